//! The visible part of the map as a table of numbers. It is made only while it is open, when the
//! hand rests, from the same f64 rows as the inspector's cell.

use leptos::prelude::*;

use crate::components::focus::focus;
use crate::components::rich_text::markup;
use crate::layout::zoom;
use crate::scheduler;
use crate::state::AppState;
use crate::state::derived::Derived;
use attnscope_scene::{Quantity, Rect};
use attnscope_text::board::{self as words, Sees};

/// Most rows and columns: more take too long, and nobody reads them.
const MOST: u32 = 40;
/// Most keys in all its rows together: a row needs the scores of all its keys.
const MOST_KEYS: u32 = 1 << 17;

/// The table, in a box that scrolls.
#[component]
pub fn Table(
    /// It is open; Escape closes it.
    open: RwSignal<bool>,
) -> impl IntoView {
    let app = AppState::get();
    let derived = Derived::get();
    let close = move |ev: web_sys::KeyboardEvent| {
        if ev.key() == "Escape" {
            open.set(false);
            focus("as-table");
        }
    };
    view! {
        <div
            class="table"
            id="table"
            role="region"
            tabindex="0"
            aria-labelledby="table-caption"
            on:keydown=close
        >
            {move || {
                let _ = (app.rested.get(), derived.lang.get());
                untrack(|| numbers(app, derived))
            }}
        </div>
    }
}

/// The table of the present picture.
fn numbers(app: AppState, derived: Derived) -> impl IntoView {
    let (lang, rect) = (derived.lang.get(), derived.rect.get());
    let (quantity, locked) = app.scene.with(|s| (s.view.quantity, s.view.cell));
    let rows = MOST.min(MOST_KEYS / derived.sizes.get().seq_len.max(1));
    let part = zoom::part(rect, locked, (rows, MOST));
    let Rect { row, col, .. } = part;
    let name = |at: u32| format!("{at} {}", derived.token(at));
    let what = match quantity {
        Quantity::Weights => words::WEIGHTS,
        Quantity::Score => words::SCORE,
    };
    let head = derived.head.get().to_string();
    let caption = words::TABLE_CAPTION.fill(lang, &[("what", what.pick(lang)), ("head", &head)]);
    let rest = (part != rect).then(|| {
        let [n, m, rows, cols] =
            [part.rows, part.cols, rect.rows, rect.cols].map(|count| count.to_string());
        words::TABLE_PART.fill(
            lang,
            &[("n", &n), ("m", &m), ("rows", &rows), ("cols", &cols)],
        )
    });
    let rest = rest.map(|rest| markup(&rest));
    let keys = (col..col + part.cols).map(|j| view! { <th scope="col">{name(j)}</th> });
    let body = scheduler::rows(row..row + part.rows)
        .into_iter()
        .zip(row..)
        .map(|(numbers, i)| {
            let cells = (col..col + part.cols).map(|j| {
                let at = numbers.keys.binary_search(&(j as usize)).ok();
                let sees = Sees::of(at.is_some(), numbers.seen);
                let of = match quantity {
                    Quantity::Weights => &numbers.weights,
                    Quantity::Score => &numbers.score,
                };
                let number = at.map_or(0.0, |at| of[at]);
                view! { <td>{markup(&words::cell(lang, sees, number))}</td> }
            });
            view! {
                <tr>
                    <th scope="row">{name(i)}</th>
                    {cells.collect_view()}
                </tr>
            }
        });
    view! {
        <table>
            <caption id="table-caption">{markup(&caption)} " " {rest}</caption>
            <thead>
                <tr>
                    <td></td>
                    {keys.collect_view()}
                </tr>
            </thead>
            <tbody>{body.collect_view()}</tbody>
        </table>
    }
}
