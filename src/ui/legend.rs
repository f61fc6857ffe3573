//! The legend: the colours of the map with the numbers at their ends.

use leptos::prelude::*;

use crate::attention::config::Reading;
use crate::engine::{ColorTable, colors};
use crate::scene::{Mechanism, Quantity, Range, Scene};
use crate::ui::derived::{Derived, part, t};
use crate::ui::markup::{View, view};
use crate::ui::memo::memo;
use crate::ui::state::AppState;
use crate::words::{board as words, number};

/// The colour table that a Scene is drawn with: weights go up from zero, everything that can be
/// negative diverges from it.
pub fn table(scene: &Scene) -> ColorTable {
    if scene.view.quantity == Quantity::Score || is_signed(scene) {
        ColorTable::Diverging
    } else {
        ColorTable::Cividis
    }
}

/// Whether the weights of a Scene can be negative.
pub fn is_signed(scene: &Scene) -> bool {
    scene.mechanism == Mechanism::Cjar && scene.cjar.reading == Reading::Product
}

/// The numbers at the ends of the legend, from the range of the picture.
fn ends(scene: &Scene, drawn: Option<(f32, f32)>) -> Option<(f64, f64)> {
    let diverging = table(scene) == ColorTable::Diverging;
    if scene.view.range == Range::Unit && scene.view.quantity == Quantity::Weights {
        return Some(if diverging { (-1.0, 1.0) } else { (0.0, 1.0) });
    }
    let (lo, hi) = drawn.map(|(lo, hi)| (f64::from(lo), f64::from(hi)))?;
    Some(if diverging {
        let size = lo.abs().max(hi.abs());
        (-size, size)
    } else {
        (lo, hi)
    })
}

/// The colours as a CSS gradient of 33 stops, from the same table as the picture.
fn gradient(table: ColorTable) -> String {
    let colors = colors::table(table);
    let stops: Vec<String> = (0..=32)
        .map(|stop| {
            let [r, g, b] = colors[stop * (colors::STEPS - 1) / 32];
            format!("rgb({r} {g} {b})")
        })
        .collect();
    format!("linear-gradient(to right, {})", stops.join(","))
}

/// Colours, numbers, and what the hatch means.
#[component(transparent)]
pub fn Legend() -> View {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let table = part(app, table);
    let ends = memo(move || {
        // The range of a coarse map is not known; that of the last one is not its own.
        let coarse = app.coarse.get().is_some();
        let drawn = app.report.with(|report| report.map_range);
        let drawn = drawn.filter(|_| !coarse);
        app.scene.with(|scene| ends(scene, drawn))
    });
    // What is no number is written as a dash.
    let ends = move || {
        let (lo, hi) = ends.get().unwrap_or((f64::NAN, f64::NAN));
        [lo, hi].map(|end| number::fixed(lang.get(), end, 3))
    };
    let coarse = move || {
        let (share, _) = app.coarse.get()?;
        let share = number::per_hundred(lang.get(), &share.to_string());
        Some(words::COARSE.fill(lang.get(), &[("share", &share)]))
    };
    // In the place of the colours, which have no numbers yet: nothing moves for it.
    let colors = move || match coarse() {
        Some(_) => String::from("none"),
        None => gradient(table.get()),
    };
    let label = move || {
        let [lo, hi] = ends();
        let ends = words::LEGEND.fill(lang.get(), &[("lo", &lo), ("hi", &hi)]);
        ends + " " + &coarse().unwrap_or_default()
    };
    view! {
        <div class="legend" role="img" aria-label=label>
            <span class="legend-number low">{move || {
                let [lo, _] = ends();
                lo
            }}</span>
            <span class="legend-bar" style:background-image=colors>
                {coarse}
            </span>
            <span class="legend-number">{move || {
                let [_, hi] = ends();
                hi
            }}</span>
            <span class="legend-hatch"></span>
            <span class="legend-word">{t(words::MASKED)}</span>
        </div>
    }
}
