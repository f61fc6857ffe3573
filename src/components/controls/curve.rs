//! The auxiliary bias s: a curve over the offset j − i, drawn beside its sliders, or random.

use std::fmt::Write as _;

use leptos::prelude::*;

use crate::components::controls::bias::tidy;
use crate::components::controls::choice::Switch;
use crate::components::controls::slider::Slider;
use crate::components::rich_text::rich;
use crate::layout::slider::Track;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_scene::{Curve, resolve};
use attnscope_text::{Text, controls as words, number};

/// Size of the drawing in its own units.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 56.0;

/// Most offsets drawn to either side: a shape over 65 536 tokens would be a blur.
const REACH: u32 = 32;

/// Amplitude, drawing, and the folded shape.
#[component]
pub fn ScoreCurve() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let curve = part(app, |s| s.cjar.s.clone());
    let dense = part(app, |s| s.cjar.s.dense);
    let reading = part(app, |s| s.cjar.reading);
    let points = Memo::new(move |_| {
        let reach = reach_of(sizes.get().seq_len);
        curve.with(|curve| sample(curve, reach as i32))
    });
    let limits = Memo::new(move |_| points.with(|p| extent(p)));
    let range = move |text: Text| {
        let (lo, hi) = limits.get();
        let values = [
            ("lo", &*number::fixed(lang.get(), lo, 2)),
            ("hi", &*number::fixed(lang.get(), hi, 2)),
        ];
        text.fill(lang.get(), &values)
    };
    let off = Memo::new(move |_| curve.with(|curve| curve.amplitude == 0.0));
    let consequence = Memo::new(move |_| {
        let fits = resolve::Sizes {
            heads: sizes.get().heads as usize,
            seq_len: sizes.get().seq_len as usize,
            head_dim: 0,
        }
        .dense_fits();
        if dense.get() && !fits {
            let most = number::count(lang.get(), resolve::MAX_DENSE as u64);
            words::S_DENSE_LARGE.fill(lang.get(), &[("most", &most)])
        } else if off.get() {
            words::S_CURVE_ZERO.pick(lang.get()).to_owned()
        } else if dense.get() && reading.get().uses_score_bias() {
            let by = curve.with(|s| number::fixed(lang.get(), f64::from(s.amplitude.abs()), 2));
            words::S_DENSE_ON.fill(lang.get(), &[("by", &by)])
        } else if reading.get().uses_score_bias() {
            range(words::S_CURVE_RANGE)
        } else {
            let name = words::reading(reading.get()).0.pick(lang.get());
            words::S_CURVE_OFF.fill(lang.get(), &[("reading", name)])
        }
    });
    // The shape at amplitude 1, so that the slider shows what it will do.
    let ghost = move || {
        let reach = reach_of(sizes.get().seq_len) as i32;
        let shape = Curve {
            amplitude: 1.0,
            ..curve.get()
        };
        let points = sample(&shape, reach);
        path(&points, extent(&points))
    };
    let line = move || points.with(|p| path(p, limits.get()));
    let zero = move || y_of(0.0, limits.get());
    view! {
        <div class="stack" class:is-idle=move || !reading.get().uses_score_bias()>
            <Slider
                id="s-amplitude"
                key="s"
                label=words::S_CURVE
                value=part(app, |s| tidy(s.cjar.s.amplitude))
                track=Memo::new(|_| Track { min: 0.0, max: 5.0, step: 0.05 })
                default=Memo::new(|_| 0.0)
                set=Callback::new(move |to: f64| app.change(|s| s.cjar.s.amplitude = to as f32))
                consequence=consequence
                role="s"
            />
            <Show when=move || !dense.get()>
            <figure class="curve">
                <svg
                    viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                    role="img"
                    aria-label=rich(move || range(words::S_CURVE_ALT))
                    preserveAspectRatio="none"
                >
                    <line class="curve-zero" x1="0" x2=WIDTH y1=zero y2=zero />
                    <line class="curve-zero" x1=WIDTH / 2.0 x2=WIDTH / 2.0 y1="0" y2=HEIGHT />
                    <Show when=move || off.get() fallback=move || view! { <path class="curve-line" d=line /> }>
                        <path class="curve-line is-ghost" d=ghost />
                    </Show>
                </svg>
                <figcaption>
                    <span>{move || format!("−{}", reach_of(sizes.get().seq_len))}</span>
                    <span>{t(words::OFFSET_AXIS)}</span>
                    <span>{move || format!("+{}", reach_of(sizes.get().seq_len))}</span>
                </figcaption>
            </figure>
            </Show>
            <details>
                <summary>{t(words::S_SHAPE)}</summary>
                <Shape />
            </details>
        </div>
    }
}

/// The seven numbers of the shape.
#[component]
fn Shape() -> impl IntoView {
    let app = AppState::get();
    let track = |min, max, step| Memo::new(move |_| Track { min, max, step });
    let tokens = words::TOKENS_UNIT;
    let get = move |of: fn(&Curve) -> f32| part(app, move |s| tidy(of(&s.cjar.s)));
    let default = |of: fn(&Curve) -> f32| Memo::new(move |_| tidy(of(&Curve::default())));
    let set = move |edit: fn(&mut Curve, f32)| {
        Callback::new(move |to: f64| {
            app.change(|s| {
                edit(&mut s.cjar.s, to as f32);
                // At amplitude 0 the shape has no effect, so moving it turns s on.
                if s.cjar.s.amplitude == 0.0 {
                    s.cjar.s.amplitude = 1.0;
                }
            });
        })
    };
    let dense = part(app, |s| s.cjar.s.dense);
    let lang = Derived::get().lang;
    let set_seed = move |ev: web_sys::Event| {
        if let Ok(seed) = event_target_value(&ev).trim().parse::<u32>() {
            app.change(|s| s.cjar.s.seed = seed);
        }
    };
    let set_dense = move |to| {
        app.change(|s| {
            s.cjar.s.dense = to;
            if to && s.cjar.s.amplitude == 0.0 {
                s.cjar.s.amplitude = 1.0;
            }
        });
    };
    view! {
        <Switch
            id="s-dense"
            label=words::S_DENSE
            hint=Memo::new(move |_| words::S_DENSE_HINT.pick(lang.get()))
            value=dense
            set=Callback::new(set_dense)
        />
        <Show when=move || dense.get() fallback=move || view! {
        <Slider id="s-decay" key="s.decay" label=words::DECAY value=get(|c| c.decay) track=track(-2.0, 2.0, 0.05)
            default=default(|c| c.decay) set=set(|c, to| c.decay = to) role="s" />
        <Slider id="s-slope" key="s.slope" label=words::SLOPE value=get(|c| c.slope) track=track(-2.0, 2.0, 0.05)
            default=default(|c| c.slope) set=set(|c, to| c.slope = to) role="s" />
        <Slider id="s-bump" key="s.bump" label=words::BUMP value=get(|c| c.bump) track=track(-5.0, 5.0, 0.1)
            default=default(|c| c.bump) set=set(|c, to| c.bump = to) role="s" />
        <Slider id="s-at" key="s.at" label=words::AT value=get(|c| c.at) track=track(-32.0, 32.0, 1.0)
            default=default(|c| c.at) set=set(|c, to| c.at = to) unit=tokens role="s" />
        <Slider id="s-width" key="s.width" label=words::WIDTH value=get(|c| c.width) track=track(0.25, 16.0, 0.25)
            default=default(|c| c.width) set=set(|c, to| c.width = to) unit=tokens role="s" />
        <Slider id="s-wave" key="s.wave" label=words::WAVE value=get(|c| c.wave) track=track(-5.0, 5.0, 0.1)
            default=default(|c| c.wave) set=set(|c, to| c.wave = to) role="s" />
        <Slider id="s-period" key="s.period" label=words::PERIOD value=get(|c| c.period) track=track(1.0, 64.0, 0.5)
            default=default(|c| c.period) set=set(|c, to| c.period = to) unit=tokens role="s" />
        }>
            <div class="pick small">
                <label for="s-seed">{t(words::BIAS_SEED)}</label>
                <input
                    type="number"
                    class="exact"
                    id="s-seed"
                    min="0"
                    step="1"
                    max=u32::MAX
                    prop:value=move || app.scene.with(|s| s.cjar.s.seed.to_string())
                    on:change=set_seed
                />
            </div>
        </Show>
    }
}

fn reach_of(seq_len: u32) -> u32 {
    seq_len.saturating_sub(1).clamp(1, REACH)
}

/// s at the offsets −reach ..= reach.
fn sample(curve: &Curve, reach: i32) -> Vec<f64> {
    (-reach..=reach)
        .map(|offset| curve.at_offset(f64::from(offset)))
        .collect()
}

/// Smallest and largest value.
fn extent(points: &[f64]) -> (f64, f64) {
    points
        .iter()
        .fold((f64::MAX, f64::MIN), |(lo, hi), &p| (lo.min(p), hi.max(p)))
}

/// Height of a value in the drawing; zero is always inside.
fn y_of(value: f64, (lo, hi): (f64, f64)) -> f64 {
    let (lo, hi) = (lo.min(0.0), hi.max(0.0));
    let span = if hi - lo > 1e-9 { hi - lo } else { 1.0 };
    let y = 4.0 + (hi - value) / span * (HEIGHT - 8.0);
    if hi - lo > 1e-9 { y } else { HEIGHT / 2.0 }
}

fn path(points: &[f64], limits: (f64, f64)) -> String {
    let last = points.len().saturating_sub(1).max(1) as f64;
    let mut d = String::with_capacity(points.len() * 14);
    for (at, &value) in points.iter().enumerate() {
        let command = if at == 0 { 'M' } else { 'L' };
        let x = at as f64 / last * WIDTH;
        // Writing to a String cannot fail.
        let _ = write!(d, "{command}{x:.1} {:.1}", y_of(value, limits));
    }
    d
}
