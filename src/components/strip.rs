//! Small maps of all heads on one canvas, with a button on each.

use leptos::html;
use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::layout::strip::{GAP, StripGrid};
use crate::scheduler::{self, CanvasSlot};
use crate::state::AppState;
use crate::state::derived::{Derived, t};
use attnscope_text::board as words;

/// The strip: beside the map where there is room, below it on a phone.
#[component]
pub fn Strip(
    /// CSS pixels that it may take: across on a phone, down elsewhere.
    room: Memo<f64>,
) -> impl IntoView {
    let app = AppState::get();
    let Derived {
        lang,
        sizes,
        narrow,
        ..
    } = Derived::get();
    let canvas = NodeRef::<html::Canvas>::new();
    Effect::new(move || {
        if let Some(canvas) = canvas.get() {
            scheduler::attach(CanvasSlot::Strip, canvas);
        }
    });
    on_cleanup(|| scheduler::detach(CanvasSlot::Strip));
    let grid = Memo::new(move |_| {
        let (room, heads) = (room.get(), sizes.get().heads);
        if narrow.get() {
            StripGrid::across(heads, room)
        } else {
            StripGrid::down(heads, room)
        }
    });
    Effect::new(move || app.strip.set(grid.get()));
    let chosen = Derived::get().head;
    let heads = Memo::new(move |_| sizes.get().heads);
    let button = move |head: u32| {
        let name = rich(move || words::HEAD_PICK.fill(lang.get(), &[("head", &head.to_string())]));
        let place = move |at: u32| pixels(f64::from(at) * (grid.get().edge + GAP));
        view! {
            <button
                type="button"
                class="head"
                aria-label=name.clone()
                title=name
                aria-pressed=move || (chosen.get() == head).to_string()
                style:left=move || place(head % grid.get().columns)
                style:top=move || place(head / grid.get().columns)
                style:width=move || pixels(grid.get().edge)
                style:height=move || pixels(grid.get().edge)
                on:click=move |_| app.change(|s| s.view.head = Some(head))
            >
                <span aria-hidden="true">{head}</span>
            </button>
        }
    };
    view! {
        <div
            class="strip"
            class:is-drawn=move || app.drawn.get().1
            role="group"
            aria-label=t(words::HEADS)
            // Small maps of an older picture are pale.
            aria-busy=move || app.strip_late.get().to_string()
            style:width=move || pixels(grid.get().size().0)
            style:height=move || pixels(grid.get().size().1)
        >
            <span class="hatch"></span>
            <canvas node_ref=canvas class="canvas" aria-hidden="true"></canvas>
            <For each=move || 0..heads.get() key=|head| *head children=button />
        </div>
    }
}

fn pixels(length: f64) -> String {
    format!("{}px", length.max(0.0))
}
