//! Ranks, segments and scale.

use leptos::prelude::*;

use crate::components::controls::bias::tidy;
use crate::components::controls::choice::{Item, Pick, Switch};
use crate::components::controls::slider::Slider;
use crate::components::rich_text::rich;
use crate::layout::slider::Track;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_attention::low_rank;
use attnscope_scene::keys::range;
use attnscope_scene::listing::Point;
use attnscope_scene::{Mechanism, Scale};
use attnscope_text::{controls as words, number};

/// r: how much of W_O is kept.
#[component]
pub fn OutputRank() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let d = move || sizes.get().model_dim();
    let rank = part(app, |s| s.cjar.out_rank);
    let shown = Memo::new(move |_| rank.get().unwrap_or(u32::MAX).clamp(1, d().max(1)));
    let consequence = Memo::new(move |_| {
        let (lang, d, r) = (lang.get(), d(), shown.get());
        if r >= d {
            return words::OUT_RANK_FULL.pick(lang).to_owned();
        }
        let params = number::engineering(lang, 2.0 * f64::from(d) * f64::from(r));
        let full = number::engineering(lang, f64::from(d) * f64::from(d));
        let energy = app.sigma.with(|sigma| energy_kept(sigma, r as usize));
        match energy {
            Some(energy) => words::OUT_RANK_KEPT.fill(
                lang,
                &[
                    ("energy", &number::percent_fine(lang, energy)),
                    ("params", &params),
                    ("full", &full),
                ],
            ),
            None => words::OUT_RANK_PARAMS.fill(lang, &[("params", &params), ("full", &full)]),
        }
    });
    view! {
        <Slider
            id="out-rank"
            key="r"
            label=words::OUT_RANK
            value=Memo::new(move |_| f64::from(shown.get()))
            track=Memo::new(move |_| Track { min: 1.0, max: f64::from(d()), step: 1.0 })
            default=Memo::new(move |_| f64::from(d()))
            set=Callback::new(move |to: f64| {
                let rank = to as u32;
                app.change(|s| s.cjar.out_rank = (rank < sizes.get_untracked().model_dim()).then_some(rank));
            })
            consequence=consequence
            role="o"
        />
    }
}

/// Share of W_O's energy that rank r keeps (SPEC 4); `None` until σ is known.
pub fn energy_kept(sigma: &[f32], rank: usize) -> Option<f64> {
    (!sigma.is_empty()).then(|| low_rank::energy_kept(sigma, rank))
}

/// Score rank, segments (CJAR) and scale: folded.
#[component]
pub fn MoreScore() -> impl IntoView {
    let app = AppState::get();
    let cjar = part(app, |s| s.mechanism == Mechanism::Cjar);
    let lang = Derived::get().lang;
    let title = move || {
        if cjar.get() {
            words::MORE_RANKS
        } else {
            words::MORE_SCALE
        }
    };
    let projected = part(app, |s| s.projected);
    let given = part(app, |s| !Point::Projection.applies(s));
    view! {
        <details class="group">
            <summary>{rich(move || title().pick(lang.get()))}</summary>
            <Show when=move || cjar.get()>
                <ScoreRank />
                <Segment />
            </Show>
            <ScaleChoice />
            <Switch
                id="projected"
                label=words::PROJECTED
                hint=Memo::new(move |_| words::PROJECTED_HINT.pick(lang.get()))
                value=Memo::new(move |_| projected.get() || given.get())
                set=Callback::new(move |to| app.change(|s| s.projected = to))
                disabled=given
            />
        </details>
    }
}

/// ρ: the score's own rank.
#[component]
fn ScoreRank() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    // q k'ᵀ has no more singular values.
    let full = move || sizes.get().head_dim.min(sizes.get().seq_len).max(1);
    let rank = part(app, |s| s.cjar.score_rank);
    let shown = Memo::new(move |_| rank.get().unwrap_or(u32::MAX).clamp(1, full()));
    let consequence = Memo::new(move |_| {
        let (lang, rank, full) = (lang.get(), shown.get(), full());
        if rank >= full {
            return words::SCORE_RANK_FULL.pick(lang).to_owned();
        }
        let share = number::percent(lang, f64::from(rank) / f64::from(full));
        words::SCORE_RANK_COST.fill(lang, &[("share", &share)])
    });
    view! {
        <Slider
            id="score-rank"
            key="rho"
            label=words::SCORE_RANK
            value=Memo::new(move |_| f64::from(shown.get()))
            track=Memo::new(move |_| Track { min: 1.0, max: f64::from(full()), step: 1.0 })
            default=Memo::new(move |_| f64::from(full()))
            set=Callback::new(move |to: f64| {
                let rank = to as u32;
                app.change(|s| s.cjar.score_rank = (rank < untrack(full)).then_some(rank));
            })
            consequence=consequence
            role="a"
        />
    }
}

/// B: keys per segment of the normalisation.
#[component]
fn Segment() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let full = move || sizes.get().seq_len.max(1);
    let segment = part(app, |s| s.cjar.segment);
    let shown = Memo::new(move |_| segment.get().unwrap_or(u32::MAX).clamp(1, full()));
    let consequence = Memo::new(move |_| {
        let (lang, size, full) = (lang.get(), shown.get(), full());
        if size >= full {
            return words::SEGMENT_ONE.pick(lang).to_owned();
        }
        let n = full.div_ceil(size);
        words::SEGMENT_MANY.fill(lang, n as usize, &[("n", &n.to_string())])
    });
    view! {
        <Slider
            id="segment"
            key="seg"
            label=words::SEGMENT
            value=Memo::new(move |_| f64::from(shown.get()))
            track=Memo::new(move |_| Track { min: 1.0, max: f64::from(full()), step: 1.0 })
            default=Memo::new(move |_| f64::from(full()))
            set=Callback::new(move |to: f64| {
                let size = to as u32;
                app.change(|s| s.cjar.segment = (size < sizes.get_untracked().seq_len).then_some(size));
            })
            consequence=consequence
            role="a"
        />
    }
}

/// The factor of q·k' (SPEC 1).
#[component]
fn ScaleChoice() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    // Which of the three; the free value itself does not matter here.
    let kind = part(app, |s| match s.scale {
        Scale::HeadDim => 0u8,
        Scale::ModelDim => 1,
        Scale::Free(_) => 2,
    });
    let factor = move |scale: Scale| match scale {
        Scale::HeadDim => 1.0 / f64::from(sizes.get().head_dim.max(1)).sqrt(),
        Scale::ModelDim => 1.0 / f64::from(sizes.get().model_dim().max(1)).sqrt(),
        Scale::Free(value) => tidy(value),
    };
    let value = Memo::new(move |_| factor(app.scene.with(|s| s.scale)));
    view! {
        <Pick
            id="scale"
            label=words::SCALE
            options=vec![
                Item::named(0u8, words::SCALE_HEAD),
                Item::named(1, words::SCALE_MODEL),
                Item::named(2, words::SCALE_FREE),
            ]
            value=kind
            set=Callback::new(move |to: u8| {
                app.change(|s| {
                    s.scale = match to {
                        0 => Scale::HeadDim,
                        1 => Scale::ModelDim,
                        // Starts from the value on screen.
                        _ => Scale::Free(untrack(|| factor(s.scale)) as f32),
                    };
                });
            })
        />
        <Show when=move || kind.get() == 2 fallback=move || view! {
            <p class="aside">{t(words::SCALE_VALUE)} " " {move || number::fixed(lang.get(), value.get(), 4)}</p>
        }>
            <Slider
                id="scale-value"
                key="scale"
                label=words::SCALE_VALUE
                value=value
                track=Memo::new(|_| Track { min: 0.0, max: 2.0, step: 0.01 })
                default=Memo::new(move |_| factor(Scale::HeadDim))
                set=Callback::new(move |to: f64| {
                    let (min, max) = range("scale");
                    app.change(|s| s.scale = Scale::Free(to.clamp(min, max) as f32));
                })
                role="q"
            />
        </Show>
    }
}
