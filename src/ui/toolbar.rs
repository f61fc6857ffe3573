//! Above the map: weights or score, the legend, the colour range, the table, zoom.

use leptos::prelude::*;

use crate::scene::{Quantity, Range};
use crate::ui::controls::choice::{Choice, Item};
use crate::ui::derived::{Derived, part, t};
use crate::ui::legend::{self, Legend};
use crate::ui::markup::{View, view};
use crate::ui::memo::{Memo, taker};
use crate::ui::pointer::Pointer;
use crate::ui::state::AppState;
use crate::words::board as words;

/// All of them.
#[component(transparent)]
pub fn Toolbar(
    /// Whether the switches are on screen.
    view: Memo<bool>,
    /// Zooms.
    pointer: Pointer,
    /// Whether the table is open.
    table: RwSignal<bool>,
) -> View {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let signed = part(app, legend::is_signed);
    let weights = part(app, |s| s.view.quantity == Quantity::Weights);
    let zoomed = part(app, |s| s.view.rect.is_some());
    let button = move |label: crate::words::Text, sign: &'static str, act: fn(Pointer)| {
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
                    set=taker(move |to| app.change(|s| s.view.quantity = to))
                    look="segments bare"
                />
            </Show>
            <Legend />
            <Show when=move || view.get()>
                <label class="range-pick">
                    <span class="visually-hidden">{t(words::RANGE)}</span>
                    <select
                        id="range"
                        disabled=move || !weights.get()
                        prop:value=move || {
                            let unit = app.scene.with(|s| s.view.range == Range::Unit);
                            if unit && weights.get() { "1" } else { "0" }
                        }
                        on:change=move |ev| {
                            let unit = event_target_value(&ev) == "1";
                            app.change(|s| {
                                s.view.range = if unit { Range::Unit } else { Range::Auto };
                            });
                        }
                    >
                        <option value="0">{t(words::RANGE_AUTO)}</option>
                        <option value="1">
                            {move || {
                                let text = if signed.get() {
                                    words::RANGE_UNIT_SIGNED
                                } else {
                                    words::RANGE_UNIT
                                };
                                text.pick(lang.get())
                            }}
                        </option>
                    </select>
                </label>
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
