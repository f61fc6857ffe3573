//! The map with its axes and marks, and what surrounds it.

use leptos::html;
use leptos::prelude::*;

use crate::components::axis::Axis;
use crate::components::controls::is_shown;
use crate::components::pointer::Pointer;
use crate::components::rich_text::rich;
use crate::components::strip::Strip;
use crate::components::table::Table;
use crate::components::toolbar::Toolbar;
use crate::layout::fully_masked;
use crate::layout::zoom;
use crate::scheduler::print;
use crate::scheduler::{self, CanvasSlot};
use crate::state::derived::{Derived, Lasting, part, t};
use crate::state::long_lived::LongLived;
use crate::state::preferences::measured;
use crate::state::{AppState, LayerState};
use attnscope_scene::{Control, Rect, Scene};
use attnscope_text::{board as words, isolated};

/// From this many cells along an edge on, a frame around a row would hide its neighbours.
const CROWDED: u32 = 128;

/// The middle of the page.
#[component]
pub fn Board() -> impl IntoView {
    let app = AppState::get();
    let view = part(app, move |s| is_shown(s, app.embedded, Control::View));
    let heads = part(app, move |s| is_shown(s, app.embedded, Control::Heads));
    let node = NodeRef::<html::Div>::new();
    let frame = NodeRef::<html::Div>::new();
    let plot = NodeRef::<html::Div>::new();
    let extent = measured(frame);
    let outer = measured(plot);
    print::copy_map();
    let narrow = Derived::get().narrow;
    // Beside the map the strip is as high as the map; below it, as wide as the board.
    let room = Memo::new(move |_| {
        if narrow.get() {
            outer.get().0
        } else {
            extent.get().1
        }
    });
    let pointer = Pointer::new(node);
    let table = RwSignal::new(false);
    view! {
        <Toolbar view=view pointer=pointer table=table />
        <div class="stage" class:has-strip=move || heads.get()>
            <div class="plot" node_ref=plot>
                <p class="axis-title axis-title-k">{t(words::KEY_AXIS)}</p>
                <p class="axis-title axis-title-q">
                    <span>{t(words::QUERY_AXIS)}</span>
                </p>
                <Axis rows=false extent=Memo::new(move |_| extent.get().0) />
                <Axis rows=true extent=Memo::new(move |_| extent.get().1) />
                {(!app.embedded).then(|| {
                    [false, true]
                        .map(|rows| view! { <Axis rows=rows extent=Memo::new(|_| print::EDGE) paper=true /> })
                })}
                // Without a picture nothing is masked, so nothing is hatched.
                <div class="map" class:is-drawn=move || app.drawn.get().0 node_ref=frame>
                    <span class="hatch"></span>
                    <FullyMasked />
                    <MapCanvas node=node pointer=pointer />
                </div>
                <Show when=move || heads.get()>
                    <Strip room=room />
                </Show>
            </div>
        </div>
        <Readout />
        <Show when=move || table.get()>
            <Table open=table />
        </Show>
    }
}

/// Crossed hatch under the fully masked rows of the map.
#[component]
fn FullyMasked() -> impl IntoView {
    let app = AppState::get();
    let Derived { rect, sizes, .. } = Derived::get();
    let visibility = part(app, Scene::visibility);
    let runs = Memo::new(move |_| {
        visibility
            .with(|visibility| fully_masked::runs(visibility, rect.get(), sizes.get().seq_len))
    });
    view! {
        <span
            class="fully-masked"
            hidden=move || runs.with(Vec::is_empty)
            style:mask-image=move || runs.with(|runs| fully_masked::gradient(runs))
        ></span>
    }
}

/// The canvas, and on top of it the element that takes the pointer and shows the marks.
#[component]
fn MapCanvas(
    /// The element that takes the pointer.
    node: NodeRef<html::Div>,
    /// Handles its events.
    pointer: Pointer,
) -> impl IntoView {
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
    Effect::new(move || {
        if let Some(canvas) = canvas.get() {
            scheduler::attach(CanvasSlot::Map, canvas);
        }
    });
    on_cleanup(|| scheduler::detach(CanvasSlot::Map));
    let head = Derived::get().head;
    let locked = LongLived::new(part(app, |s| s.view.cell));
    let zoomed = derived.zoomed;
    let waiting = move || app.layer.with(|layer| matches!(layer, LayerState::Idle));
    let label = rich(move || {
        let n = sizes.get().seq_len.to_string();
        words::MAP.fill(
            lang.get(),
            &[("head", &head.get().to_string()), ("n", &n), ("m", &n)],
        )
    });
    // A mark around a cell, or along its whole row or column. A test checks its contrast against
    // the colours of the maps.
    let mark = move |(class, at, wide, tall): (_, Lasting<Option<(u32, u32)>>, bool, bool)| {
        let place = Memo::new(move |_| {
            let ((i, j), rect) = (at.get()?, rect.get());
            let band = |whole: bool, start, count, at| {
                if whole {
                    Some((0.0, 1.0))
                } else {
                    zoom::band(start, count, at)
                }
            };
            let (top, height) = band(tall, rect.row, rect.rows, i)?;
            let (left, width) = band(wide, rect.col, rect.cols, j)?;
            Some([top, height, left, width])
        });
        let at = move |side: usize| {
            let share = place.get().map_or(0.0, |place| place[side]);
            format!("{}%", share * 100.0)
        };
        let crowded = move || {
            let Rect { rows, cols, .. } = rect.get();
            (wide && rows > CROWDED) || (tall && cols > CROWDED)
        };
        view! {
            <span
                class=class
                class:is-thin=crowded
                hidden=move || place.get().is_none()
                style:top=move || at(0)
                style:height=move || at(1)
                style:left=move || at(2)
                style:width=move || at(3)
            ></span>
        }
    };
    let marks = [
        ("band band-q", cell, true, false),
        ("band band-k", cell, false, true),
        ("ring cursor", cell, false, false),
        ("ring", locked, false, false),
    ];
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
            {marks.map(mark)}
            // One cell is announced, with its position in the grid; the rest is a picture.
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
                    {rich(move || readout(app, derived))}
                </div>
            </div>
        </div>
    }
}

/// One line about the cell under the pointer or cursor; it keeps its room when there is none.
#[component]
fn Readout() -> impl IntoView {
    let app = AppState::get();
    let derived = Derived::get();
    // Not a live region: the grid announces the same, and a pointer would trigger it all the time.
    view! {
        <p class="readout" class:is-empty=move || derived.cell.get().is_none()>
            {rich(move || readout(app, derived))}
        </p>
    }
}

/// Tokens, weight and score of the hovered or locked cell.
fn readout(app: AppState, derived: Derived) -> String {
    let lang = derived.lang.get();
    let Some((i, j)) = derived.cell.get() else {
        return words::READOUT_HINT.pick(lang).to_owned();
    };
    let token = |at| isolated(&derived.token(at));
    let (qi, kj) = (token(i), token(j));
    let values = [
        ("i", &*i.to_string()),
        ("qi", &*qi),
        ("j", &*j.to_string()),
        ("kj", &*kj),
    ];
    let mut text = words::READOUT.fill(lang, &values);
    let numbers = app
        .cell
        .get()
        .filter(|c| (c.row, c.col) == (i as usize, j as usize));
    if let Some(c) = numbers {
        let sees = words::Sees::of(c.visible, c.visible_keys);
        text.push_str(&words::spoken(lang, sees, c.weight, c.score));
    }
    text
}
