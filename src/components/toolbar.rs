//! Above the map: weights or score, the legend, the colour range, the table, zoom.

use leptos::prelude::*;

use crate::components::controls::choice::{Choice, Item};
use crate::components::legend::{self, Legend};
use crate::components::pointer::Pointer;
use crate::components::rich_text::rich;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_scene::link_words::Word;
use attnscope_scene::{ColorScale, Quantity, Range, Scene};
use attnscope_text::board as words;

/// All of them.
#[component]
pub fn Toolbar(
    /// Whether the switches are on screen.
    view: Memo<bool>,
    /// Zooms.
    pointer: Pointer,
    /// Whether the table is open.
    table: RwSignal<bool>,
) -> impl IntoView {
    let app = AppState::get();
    let zoomed = Derived::get().zoomed;
    let button = move |label: attnscope_text::Text, sign: &'static str, act: fn(Pointer)| {
        view! {
            <button
                type="button"
                class="icon"
                title=t(label)
                aria-label=t(label)
                on:click=move |_| act(pointer)
            >
                {sign}
            </button>
        }
    };
    view! {
        <div class="toolbar">
            <Show when=move || view.get()>
                <Choice
                    name="quantity"
                    legend=words::QUANTITY
                    options=vec![
                        Item::named(Quantity::Weights, words::WEIGHTS),
                        Item::named(Quantity::Score, words::SCORE),
                    ]
                    value=part(app, |s| s.view.quantity)
                    set=Callback::new(move |to| app.change(|s| s.view.quantity = to))
                    look="segments bare"
                />
            </Show>
            <Legend />
            <Show when=move || view.get()>
                <ColorPick />
            </Show>
            <button
                type="button"
                class="icon wide"
                id="as-table"
                aria-expanded=move || table.get().to_string()
                aria-controls="table"
                on:click=move |_| table.set(!table.get_untracked())
            >
                {t(words::TABLE)}
            </button>
            <div class="zoom" role="group">
                {button(words::ZOOM_OUT, "−", |p| p.zoom(2.0))}
                {button(words::ZOOM_IN, "+", |p| p.zoom(0.5))}
                <button
                    type="button"
                    class="icon"
                    title=t(words::ZOOM_FIT)
                    aria-label=t(words::ZOOM_FIT)
                    disabled=move || !zoomed.get()
                    on:click=move |_| pointer.fit()
                >
                    "⤢"
                </button>
            </div>
        </div>
    }
}

/// What the colours are spread over, and how: one choice, in a group for each range.
#[component]
fn ColorPick() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let signed = part(app, Scene::is_signed);
    let weights = part(app, |s| s.view.quantity == Quantity::Weights);
    let automatic = legend::automatic(app);
    let chosen = part(app, |s| (s.view.range, s.view.color));
    let is_chosen = move |in_group: Range, scale: Option<ColorScale>| {
        let (range, color) = chosen.get();
        // Scores have no range of their own.
        let range = if weights.get() { range } else { Range::Auto };
        (in_group, scale) == (range, color)
    };
    let pick = move |ev: web_sys::Event| {
        let value = event_target_value(&ev);
        if let Some((range, color)) = value.split_once(' ') {
            app.change(|s| {
                s.view.color = ColorScale::from_word(color);
                if let Some(range) = Range::from_word(range).filter(|_| weights.get()) {
                    s.view.range = range;
                }
            });
        }
    };
    let options = move |range: Range| {
        let automatic = view! {
            <option
                value=option(range, None)
                prop:selected=move || is_chosen(range, None)
            >
                {rich(move || {
                        let scale = legend::name(automatic.get()).pick(lang.get());
                        words::SCALE_AUTO.fill(lang.get(), &[("scale", scale)])
                    })
                    .flat()}
            </option>
        };
        let scales = ColorScale::WORDS.iter().map(|&(scale, _)| {
            let value = option(range, Some(scale));
            view! {
                <option value=value prop:selected=move || is_chosen(range, Some(scale))>
                    {t(legend::name(scale)).flat()}
                </option>
            }
        });
        (automatic, scales.collect_view())
    };
    let unit = rich(move || {
        let text = if signed.get() {
            words::RANGE_UNIT_SIGNED
        } else {
            words::RANGE_UNIT
        };
        text.pick(lang.get())
    });
    view! {
        <label class="color-pick">
            <span class="visually-hidden">{t(words::COLORS)}</span>
            <select id="colors" on:change=pick>
                <optgroup label=t(words::RANGE_AUTO)>{options(Range::Auto)}</optgroup>
                <optgroup label=unit disabled=move || !weights.get()>
                    {options(Range::Unit)}
                </optgroup>
            </select>
        </label>
    }
}

/// A range and a scale as the value of an option.
fn option(range: Range, color: Option<ColorScale>) -> String {
    format!("{} {}", range.word(), color.map_or("auto", Word::word))
}
