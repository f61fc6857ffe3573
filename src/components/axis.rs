//! Token labels along one side of the map.

use leptos::prelude::*;

use crate::layout::axis::{self, Labels};
use crate::state::derived::{Derived, lasting};

/// Longest label, in characters; shorter on a phone.
const LONGEST: usize = 11;
const LONGEST_NARROW: usize = 8;

/// Labels of the queries (down the left side) or of the keys (along the top).
#[component]
pub fn Axis(
    /// Queries rather than keys.
    rows: bool,
    /// Edge of the map in CSS pixels.
    extent: Memo<f64>,
    /// For print, where the map has another size than on screen.
    #[prop(optional)]
    paper: bool,
) -> impl IntoView {
    let Derived {
        rect,
        tokens,
        cell,
        narrow,
        ..
    } = Derived::get();
    let span = Memo::new(move |_| {
        let rect = rect.get();
        if rows {
            (rect.row, rect.rows)
        } else {
            (rect.col, rect.cols)
        }
    });
    // Not a memo: an effect that reads a memo of `extent` beside `extent` itself does not rerun when
    // only `extent` changes.
    let fit = move || axis::labels(extent.get(), span.get().1);
    let longest = move || {
        if narrow.get() && !paper {
            LONGEST_NARROW
        } else {
            LONGEST
        }
    };
    let text = move |at: u32| {
        tokens.with(|tokens| {
            tokens
                .get(at as usize)
                .map_or_else(|| at.to_string(), |token| axis::shorten(token, longest()))
        })
    };
    let hot_now = move || {
        let (start, count) = span.get();
        let (i, j) = cell.get()?;
        let at = if rows { i } else { j };
        (at >= start && at - start < count).then_some(at)
    };
    let hot = lasting(hot_now);
    let label = move |at: u32, is_hot: bool| {
        let (start, count) = span.get();
        let pitch = extent.get() / f64::from(count);
        let (x, y, turn) = place(rows, fit());
        let turn = format!("translate({x} {y}) rotate({turn})");
        // A share of the map's edge, not pixels: on paper the map may have another size.
        let along = format!(
            "{:.3}%",
            (f64::from(at - start) + 0.5) / f64::from(count) * 100.0
        );
        let (x, y) = if rows { ("0", &*along) } else { (&*along, "0") };
        let class = if is_hot { "tick hot" } else { "tick" };
        // The label of the hovered or locked cell hides its neighbours.
        let gives_way =
            move || !is_hot && hot.get().is_some_and(|hot| axis::touches(pitch, hot, at));
        view! {
            <svg x=x.to_owned() y=y.to_owned()>
                <text
                    class=class
                    class:gives-way=gives_way
                    transform=turn
                    text-anchor=if rows { "end" } else { "start" }
                >
                    {text(at)}
                </text>
            </svg>
        }
    };
    let all = move || {
        let (start, count) = span.get();
        axis::labelled(start, count, fit().step)
            .map(|at| label(at, false))
            .collect_view()
    };
    let class = match (rows, paper) {
        (true, false) => "axis axis-q",
        (false, false) => "axis axis-k",
        (true, true) => "axis paper paper-q",
        (false, true) => "axis paper paper-k",
    };
    view! {
        // The map's own description already speaks these words.
        <svg class=class aria-hidden="true">
            {all}
            // Not the memo, as with `fit`: the label's place is read together with the memo's
            // source.
            {move || hot_now().map(|at| label(at, true))}
        </svg>
    }
}

/// Offset of a label from its place along the edge, and its rotation. CSS gives the axis its depth;
/// query labels end at the map's edge, key labels start there.
fn place(rows: bool, fit: Labels) -> (i32, i32, i32) {
    match (rows, fit.slanted) {
        (true, _) => (-6, 0, 0),
        (false, true) => (0, -6, -45),
        (false, false) => (0, -6, -90),
    }
}
