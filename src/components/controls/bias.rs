//! Position biases P_K and P_V: amplitude shown, shape folded.

use leptos::prelude::*;

use crate::components::controls::choice::{Choice, Item, Pick};
use crate::components::controls::slider::Slider;
use crate::components::rich_text::rich;
use crate::layout::slider::Track;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_attention::bias::xavier_deviation;
use attnscope_attention::config::Reading;
use attnscope_scene::keys::{key_bias_range, range};
use attnscope_scene::{Bias, BiasShape, Cjar, Scene};
use attnscope_text::{Text, controls as words, number};

/// P_K or P_V, as plain functions.
#[derive(Clone, Copy)]
struct Which {
    of: fn(&Cjar) -> &Bias,
    of_mut: fn(&mut Cjar) -> &mut Bias,
    consequence: fn(&Scene) -> Text,
    /// Legal range of the amplitude.
    limits: fn(&Bias) -> (f64, f64),
    label: Text,
    /// Name of the amplitude in links.
    key: &'static str,
    /// Link parameter for the choice between one row and one per position.
    key_each: &'static str,
    /// Ids: amplitude, shape, sharing, seed.
    ids: [&'static str; 4],
}

const KEYS: Which = Which {
    of: |cjar| &cjar.p_k,
    of_mut: |cjar| &mut cjar.p_k,
    consequence: |scene| {
        let bias = &scene.cjar.p_k;
        if bias.amplitude == 0.0 {
            words::BIAS_OFF
        } else if bias.per_position {
            words::P_K_EACH
        } else if scene.cjar.reading == Reading::Product {
            words::P_K_SHARED_ACTS
        } else {
            words::P_K_SHARED
        }
    },
    limits: |bias| key_bias_range(bias.per_position),
    label: words::P_K,
    key: "pk",
    key_each: "pk.each",
    ids: ["p-k", "p-k-shape", "p-k-sharing", "p-k-seed"],
};

const VALUES: Which = Which {
    of: |cjar| &cjar.p_v,
    of_mut: |cjar| &mut cjar.p_v,
    consequence: |scene| {
        let bias = &scene.cjar.p_v;
        if bias.amplitude == 0.0 {
            words::BIAS_OFF
        } else if bias.per_position {
            words::P_V_EACH
        } else {
            words::P_V_SHARED
        }
    },
    limits: |_| range("pv"),
    label: words::P_V,
    key: "pv",
    key_each: "pv.each",
    ids: ["p-v", "p-v-shape", "p-v-sharing", "p-v-seed"],
};

/// P_K.
#[component]
pub fn KeyBias() -> impl IntoView {
    view! { <BiasControl which=KEYS /> }
}

/// P_V never moves the map, so it is folded.
#[component]
pub fn ValueBias() -> impl IntoView {
    view! {
        <details class="group">
            <summary>{t(words::P_V)}</summary>
            <BiasControl which=VALUES />
        </details>
    }
}

/// Amplitude, sharing, and the folded shape of one bias.
#[component]
fn BiasControl(
    /// P_K or P_V.
    which: Which,
) -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let Which {
        of,
        of_mut,
        consequence,
        limits,
        label,
        key,
        key_each,
        ids,
    } = which;
    let words_of = part(app, consequence);
    let (shape_of, each) = (
        part(app, move |s| of(&s.cjar).shape),
        part(app, move |s| of(&s.cjar).per_position),
    );
    let deviation = move || {
        let (lang, sizes) = (lang.get(), sizes.get());
        let rows = if each.get() { sizes.seq_len } else { 1 };
        let [heads, rows, dim] = [sizes.heads, rows, sizes.head_dim].map(|n| n as usize);
        let deviation = number::small(lang, xavier_deviation(heads, rows, dim));
        words::XAVIER_HINT.fill(lang, &[("deviation", &deviation)])
    };
    let one_hot = part(app, move |s| of(&s.cjar).shape == BiasShape::OneHot);
    let set_amplitude = move |to: f64| {
        app.change(|s| {
            let bias = of_mut(&mut s.cjar);
            let (min, max) = limits(bias);
            bias.amplitude = to.clamp(min, max) as f32;
        });
    };
    let set_sharing = move |to: bool| {
        app.change(|s| {
            let bias = of_mut(&mut s.cjar);
            bias.per_position = to;
            let (min, max) = limits(bias);
            bias.amplitude = f64::from(bias.amplitude).clamp(min, max) as f32;
        });
    };
    let set_seed = move |ev: web_sys::Event| {
        if let Ok(seed) = event_target_value(&ev).trim().parse::<u32>() {
            app.change(|s| of_mut(&mut s.cjar).seed = seed);
        }
    };
    let shape = |of| Item::named(of, words::bias_shape(of));
    view! {
        <div class="stack">
            <Slider
                id=ids[0]
                key=key
                label=label
                value=part(app, move |s| tidy(of(&s.cjar).amplitude))
                track=Memo::new(|_| Track { min: 0.0, max: 5.0, step: 0.05 })
                default=Memo::new(|_| 0.0)
                set=Callback::new(set_amplitude)
                consequence=Memo::new(move |_| words_of.get().pick(lang.get()).to_owned())
                role="p"
            />
            <Choice
                name=ids[2]
                key=key_each
                legend=words::SHARING
                options=vec![
                    Item::named(false, words::SHARED),
                    Item::named(true, words::PER_POSITION),
                ]
                value=part(app, move |s| of(&s.cjar).per_position)
                set=Callback::new(set_sharing)
                look="segments"
            />
            <div class="pair">
                <Pick
                    id=ids[1]
                    label=words::BIAS_SHAPE
                    options=vec![
                        shape(BiasShape::Normal),
                        shape(BiasShape::Xavier),
                        shape(BiasShape::Sinusoidal),
                        shape(BiasShape::OneHot),
                    ]
                    value=shape_of
                    set=Callback::new(move |to| app.change(|s| of_mut(&mut s.cjar).shape = to))
                />
                <div class="pick small">
                    <label for=ids[3]>
                        {rich(move || {
                            let text = if one_hot.get() { words::BIAS_DIM } else { words::BIAS_SEED };
                            text.pick(lang.get())
                        })}
                    </label>
                    <input
                        type="number"
                        class="exact"
                        id=ids[3]
                        min="0"
                        step="1"
                        max=move || if one_hot.get() { sizes.get().head_dim - 1 } else { u32::MAX }
                        prop:value=move || app.scene.with(|s| of(&s.cjar).seed.to_string())
                        on:change=set_seed
                    />
                </div>
            </div>
            <p class="aside" hidden=move || shape_of.get() != BiasShape::Xavier>
                {rich(deviation)}
            </p>
        </div>
    }
}

/// An f32 of the Scene as the decimal number it was set to.
pub fn tidy(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}
