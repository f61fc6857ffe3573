//! The slider: value, unit, consequence and number box; keys step, double, halve and restore.

use leptos::html;
use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::layout::slider::{POSITIONS, Track};
use crate::state::derived::{Derived, t};
use attnscope_text::{Text, controls as words};

/// A slider with its number box and the consequence of its value in words.
#[component]
pub fn Slider(
    /// Element id of the range input.
    id: &'static str,
    /// Name of the value in links; tests find the slider by it.
    key: &'static str,
    /// Name of the value.
    label: Text,
    /// The value.
    value: Memo<f64>,
    /// Its range and step.
    track: Memo<Track>,
    /// What double-click and Backspace restore.
    default: Memo<f64>,
    /// Called with a new value that lies on the track.
    set: Callback<f64>,
    /// Consequence of the value, in words.
    #[prop(optional)]
    consequence: Option<Memo<String>>,
    /// Unit beside the number.
    #[prop(optional)]
    unit: Option<Text>,
    /// Role colour: q, k, v, p, s, a or o.
    #[prop(optional)]
    role: &'static str,
) -> impl IntoView {
    let lang = Derived::get().lang;
    let node = NodeRef::<html::Input>::new();

    // One effect, in this order: a range input clamps its value to the limits it has at that
    // moment.
    Effect::new(move || {
        let (track, value) = (track.get(), value.get());
        let Some(input) = node.get() else { return };
        let (min, max, step) = if track.by_ratio() {
            (0.0, f64::from(POSITIONS), 1.0)
        } else {
            (track.min, track.max, track.step)
        };
        input.set_min(&min.to_string());
        input.set_max(&max.to_string());
        input.set_step(&step.to_string());
        input.set_value(&track.position(value).to_string());
    });

    let text = move || plain(value.get(), track.get());
    let change = move |to: f64| {
        let to = track.get_untracked().snap(to);
        if (to - value.get_untracked()).abs() > f64::EPSILON {
            set.run(to);
        }
    };
    let on_input = move |ev: web_sys::Event| {
        let position = event_target::<web_sys::HtmlInputElement>(&ev).value_as_number();
        change(track.get_untracked().value(position));
    };
    let on_key = move |ev: web_sys::KeyboardEvent| {
        if ev.ctrl_key() || ev.alt_key() || ev.meta_key() {
            return;
        }
        let (track, now) = (track.get_untracked(), value.get_untracked());
        let Some(to) = by_key(&ev, track, now, default.get_untracked()) else {
            return;
        };
        ev.prevent_default();
        change(to);
    };
    let on_exact = move |ev: web_sys::Event| {
        let input = event_target::<web_sys::HtmlInputElement>(&ev);
        // NaN means that the text is not a number.
        let number = input.value_as_number();
        if !number.is_nan() {
            change(number);
        }
        // Rejected or rounded input is replaced by the value in effect.
        input.set_value(&plain(value.get_untracked(), track.get_untracked()));
    };
    let note = format!("{id}-note");

    view! {
        <div class="slider" data-role=role data-key=key>
            <div class="slider-head">
                <label for=id>{t(label)}</label>
                <span class="slider-value">
                    <input
                        type="number"
                        class="exact"
                        id=format!("{id}-exact")
                        aria-label=rich(move || words::EXACT.fill(lang.get(), &[("label", label.pick(lang.get()))]))
                        min=move || track.get().min
                        max=move || track.get().max
                        step=move || track.get().step
                        prop:value=text
                        on:change=on_exact
                    />
                    {unit.map(|unit| view! { <span class="unit">{t(unit)}</span> })}
                </span>
            </div>
            <input
                type="range"
                id=id
                node_ref=node
                title=rich(move || {
                    let value = plain(default.get(), track.get());
                    words::RESTORE.fill(lang.get(), &[("value", &value)])
                })
                aria-valuetext=text
                aria-describedby=consequence.map(|_| note.clone())
                on:input=on_input
                on:keydown=on_key
                on:dblclick=move |_| change(default.get_untracked())
            />
            {consequence
                .map(|words| {
                    view! {
                        <p class="consequence" id=note>
                            {rich(move || words.get())}
                        </p>
                    }
                })}
        </div>
    }
}

/// The value after a key; `None` for keys that the slider does not handle.
fn by_key(ev: &web_sys::KeyboardEvent, track: Track, now: f64, default: f64) -> Option<f64> {
    let stride = if ev.shift_key() { 10.0 } else { 1.0 };
    Some(match ev.key().as_str() {
        "ArrowRight" | "ArrowUp" => now + track.step * stride,
        "ArrowLeft" | "ArrowDown" => now - track.step * stride,
        "PageUp" => track.double(now),
        "PageDown" => track.halve(now),
        "Home" => track.min,
        "End" => track.max,
        "Backspace" | "Delete" => default,
        _ => return None,
    })
}

/// A number as number boxes expect it: with a plain minus sign and as many decimals as the step.
fn plain(value: f64, track: Track) -> String {
    let decimals = (0..6).find(|&n| {
        let scaled = track.step * 10f64.powi(n);
        (scaled - scaled.round()).abs() < 1e-9
    });
    format!("{:.*}", decimals.unwrap_or(6) as usize, value)
}
