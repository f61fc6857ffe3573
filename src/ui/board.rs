//! The map with its axes, marks, legend and zoom.

use leptos::html;
use leptos::prelude::*;

use crate::layout::zoom;
use crate::scene::{Control, Quantity, Range};
use crate::ui::axis::Axis;
use crate::ui::controls::choice::{Choice, Item};
use crate::ui::controls::is_shown;
use crate::ui::derived::{Derived, part, t};
use crate::ui::driver::{self, CanvasSlot};
use crate::ui::legend::{self, Legend};
use crate::ui::markup::{View, view};
use crate::ui::measure::measured;
use crate::ui::memo::{Memo, effect, memo, taker};
use crate::ui::pointer::Pointer;
use crate::ui::state::{AppState, LayerState};
use crate::ui::strip::Strip;
use crate::words::{board as words, isolated, number};

/// From so many cells along an edge on, a frame around a row would hide its neighbours.
const CROWDED: u32 = 128;

/// The whole middle of the page.
#[component(transparent)]
pub fn Board() -> View {
    let app = AppState::get();
    let view = part(app, move |s| is_shown(s, app.embedded, Control::View));
    let heads = part(app, move |s| is_shown(s, app.embedded, Control::Heads));
    let node = NodeRef::<html::Div>::new();
    let frame = NodeRef::<html::Div>::new();
    let plot = NodeRef::<html::Div>::new();
    let extent = measured(frame);
    let outer = measured(plot);
    let narrow = Derived::get().narrow;
    // Beside the map the strip is as high as it; under it, as wide as everything.
    let room = memo(move || {
        if narrow.get() {
            outer.get().0
        } else {
            extent.get().1
        }
    });
    let pointer = Pointer::new(node);
    view! {
        <Toolbar view=view pointer=pointer />
        <div class="stage" class:has-strip=move || heads.get()>
            <div class="plot" node_ref=plot>
                <p class="axis-title axis-title-k">{t(words::KEY_AXIS)}</p>
                <p class="axis-title axis-title-q">
                    <span>{t(words::QUERY_AXIS)}</span>
                </p>
                <Axis rows=false extent=memo(move || extent.get().0) />
                <Axis rows=true extent=memo(move || extent.get().1) />
                <div class="map" node_ref=frame>
                    <MapCanvas node=node pointer=pointer />
                </div>
                <Show when=move || heads.get()>
                    <Strip room=room />
                </Show>
            </div>
        </div>
        <Readout />
    }
}

/// Weights or score, the legend, the range, zoom.
#[component(transparent)]
fn Toolbar(
    /// Whether the switches are on screen.
    view: Memo<bool>,
    /// Zooms.
    pointer: Pointer,
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

/// The canvas, and above it what takes the pointer and shows the marks.
#[component(transparent)]
fn MapCanvas(
    /// The element that takes the pointer.
    node: NodeRef<html::Div>,
    /// What it does.
    pointer: Pointer,
) -> View {
    let app = AppState::get();
    let derived = Derived::get();
    let Derived {
        lang,
        rect,
        sizes,
        cell,
        ..
    } = derived;
    let at = move || cell.get().unwrap_or((rect.get().row, rect.get().col));
    let canvas = NodeRef::<html::Canvas>::new();
    effect(move || {
        if let Some(canvas) = canvas.get() {
            driver::attach(CanvasSlot::Map, canvas);
        }
    });
    on_cleanup(|| driver::detach(CanvasSlot::Map));
    let head = Derived::get().head;
    let locked = part(app, |s| s.view.cell);
    let zoomed = part(app, |s| s.view.rect.is_some());
    let waiting = move || app.layer.with(|layer| matches!(layer, LayerState::Idle));
    let label = move || {
        let n = sizes.get().seq_len.to_string();
        words::MAP.fill(
            lang.get(),
            &[("head", &head.get().to_string()), ("n", &n), ("m", &n)],
        )
    };
    let row = move || {
        cell.get()
            .and_then(|(i, _)| zoom::band(rect.get().row, rect.get().rows, i))
    };
    let col = move || {
        cell.get()
            .and_then(|(_, j)| zoom::band(rect.get().col, rect.get().cols, j))
    };
    let lock_row = move || {
        locked
            .get()
            .and_then(|(i, _)| zoom::band(rect.get().row, rect.get().rows, i))
    };
    let lock_col = move || {
        locked
            .get()
            .and_then(|(_, j)| zoom::band(rect.get().col, rect.get().cols, j))
    };
    let start = |band: Option<(f64, f64)>| percent(band.map_or(0.0, |(start, _)| start));
    let extent = |band: Option<(f64, f64)>| percent(band.map_or(0.0, |(_, extent)| extent));
    view! {
        <canvas node_ref=canvas class="canvas" aria-hidden="true"></canvas>
        <Show when=waiting>
            <p class="waiting">{t(words::WAITING)}</p>
        </Show>
        <div
            id="map"
            class="marks"
            class:is-zoomed=move || zoomed.get()
            node_ref=node
            tabindex="0"
            role="grid"
            aria-roledescription=t(words::MAP_ROLE)
            aria-label=label
            aria-rowcount=move || sizes.get().seq_len
            aria-colcount=move || sizes.get().seq_len
            aria-readonly="true"
            aria-activedescendant=move || cell.get().map(|_| "map-cell")
            on:pointerdown=move |ev| pointer.down(&ev)
            on:pointermove=move |ev| pointer.moves(&ev)
            on:pointerup=move |ev| pointer.up(&ev)
            on:pointerleave=move |_| pointer.leave()
            on:pointercancel=move |_| pointer.leave()
            on:wheel=move |ev| pointer.wheel(&ev)
            on:keydown=move |ev| pointer.key(&ev)
        >
            <span
                class="band band-q"
                class:is-thin=move || { rect.get().rows > CROWDED }
                hidden=move || row().is_none()
                style:top=move || start(row())
                style:height=move || extent(row())
            ></span>
            <span
                class="band band-k"
                class:is-thin=move || { rect.get().cols > CROWDED }
                hidden=move || col().is_none()
                style:left=move || start(col())
                style:width=move || extent(col())
            ></span>
            <span
                class="cell-mark"
                hidden=move || lock_row().is_none() || lock_col().is_none()
                style:top=move || start(lock_row())
                style:height=move || extent(lock_row())
                style:left=move || start(lock_col())
                style:width=move || extent(lock_col())
            ></span>
            // One cell is spoken, with its place among all; the rest is a picture.
            <div
                role="row"
                class="visually-hidden"
                aria-rowindex=move || at().0 + 1
            >
                <div
                    role="gridcell"
                    id="map-cell"
                    aria-colindex=move || at().1 + 1
                    aria-selected=move || {
                        let chosen = locked.get().is_some_and(|cell| cell == at());
                        if chosen { "true" } else { "false" }
                    }
                >
                    {move || readout(app, derived)}
                </div>
            </div>
        </div>
    }
}

/// One line about the cell under the pointer or cursor; it keeps its place when there is none.
#[component(transparent)]
fn Readout() -> View {
    let app = AppState::get();
    let derived = Derived::get();
    // No live region: the grid speaks the same, and a pointer would make it speak all the time.
    view! {
        <p class="readout" class:is-empty=move || derived.cell.get().is_none()>
            {move || readout(app, derived)}
        </p>
    }
}

/// Token, token, weight and score of the cell that is talked about.
fn readout(app: AppState, derived: Derived) -> String {
    let lang = derived.lang.get();
    let Some((i, j)) = derived.cell.get() else {
        return words::READOUT_HINT.pick(lang).to_owned();
    };
    let token = |at| isolated(&derived.token(at));
    let (qi, kj) = (token(i), token(j));
    let numbers = app
        .cell
        .get()
        .filter(|c| (c.row, c.col) == (i as usize, j as usize));
    let (i, j) = (i.to_string(), j.to_string());
    let mut values = vec![("i", &*i), ("qi", &*qi), ("j", &*j), ("kj", &*kj)];
    let Some(numbers) = numbers else {
        return words::READOUT.fill(lang, &values);
    };
    let (a, r) = (
        number::weight(lang, numbers.weight),
        number::weight(lang, numbers.score),
    );
    values.extend([("a", &*a), ("r", &*r)]);
    let text = if numbers.visible || numbers.weight != 0.0 {
        words::READOUT_VALUE
    } else {
        words::READOUT_MASKED
    };
    text.fill(lang, &values)
}

fn percent(share: f64) -> String {
    format!("{}%", share * 100.0)
}
