//! The legend: the colours of the map and the numbers they stand for.

use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::layout::legend::{MOST, ticks};
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_engine::{ColorTable, colors};
use attnscope_scene::{ColorScale, Quantity, Range, Scene};
use attnscope_text::{Text, board as words, number};

/// The colour table of a Scene: weights are sequential from zero, values with a sign diverge from
/// it.
pub fn table(scene: &Scene) -> ColorTable {
    if scene.view.quantity == Quantity::Score || scene.is_signed() {
        ColorTable::Diverging
    } else {
        ColorTable::Cividis
    }
}

/// The values of the first and the last colour, unless the picture determines them.
pub fn range(scene: &Scene) -> Option<(f32, f32)> {
    let unit = scene.view.range == Range::Unit && scene.view.quantity == Quantity::Weights;
    unit.then_some(if scene.is_signed() {
        (-1.0, 1.0)
    } else {
        (0.0, 1.0)
    })
}

/// The name of a scale.
pub fn name(scale: ColorScale) -> Text {
    match scale {
        ColorScale::Linear => words::SCALE_LINEAR,
        ColorScale::Sqrt => words::SCALE_SQRT,
        ColorScale::Log => words::SCALE_LOG,
    }
}

/// The scale used when none is chosen.
pub fn automatic(app: AppState) -> Memo<ColorScale> {
    let sizes = Derived::get().sizes;
    Memo::new(move |_| {
        let seq_len = sizes.get().seq_len as usize;
        app.scene.with(|scene| scene.automatic_scale(seq_len))
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
#[component]
pub fn Legend() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let table = part(app, table);
    let (chosen, automatic) = (part(app, |s| s.view.color), automatic(app));
    let scale = Memo::new(move |_| chosen.get().unwrap_or(automatic.get()));
    let ends = Memo::new(move |_| {
        // The range of a coarse map is unknown, and that of the last map does not apply.
        let coarse = app.coarse.get().is_some();
        let drawn = app.report.with(|report| report.map_range);
        let given = app.scene.with(range);
        let known = given.or(drawn).filter(|_| given.is_some() || !coarse);
        known.map(|_| {
            let (low, high) = colors::ends(table.get(), given, drawn);
            (f64::from(low), f64::from(high))
        })
    });
    // A value that is not a number shows as a dash.
    let number = move |value: Option<f64>| match value.unwrap_or(f64::NAN) {
        value if value.abs() >= 100.0 => number::rough(lang.get(), value),
        value => number::weight(lang.get(), value),
    };
    // The end of the logarithm: below it, the colour is that of 0.
    let floor = move || {
        let high = ends.get().filter(|_| scale.get() == ColorScale::Log)?.1;
        let floor = number::rough(lang.get(), high * f64::from(colors::LOG_FLOOR));
        let signed = table.get() == ColorTable::Diverging;
        Some((signed, if signed { format!("±{floor}") } else { floor }))
    };
    let low = move || match floor() {
        Some((false, floor)) => format!("≤\u{202f}{floor}"),
        _ => number(ends.get().map(|(low, _)| low)),
    };
    let high = move || number(ends.get().map(|(_, high)| high));
    let coarse = move || {
        let (share, _) = app.coarse.get()?;
        let share = number::per_hundred(lang.get(), &share.to_string());
        Some(words::COARSE.fill(lang.get(), &[("share", &share)]))
    };
    // It replaces the colours, which have no numbers yet, so nothing moves.
    let colors = move || match coarse() {
        Some(_) => String::from("none"),
        None => gradient(table.get()),
    };
    let label = rich(move || {
        let scale = name(scale.get()).pick(lang.get());
        let values = [("lo", &*low()), ("hi", &*high()), ("scale", scale)];
        let floor = floor().map(|(_, floor)| {
            let text = words::LEGEND_FLOOR;
            text.fill(lang.get(), &[("floor", &floor)])
        });
        words::LEGEND.fill(lang.get(), &values)
            + &floor.unwrap_or_default()
            + &coarse().map_or(String::new(), |coarse| format!(" {coarse}"))
    });
    let all = Memo::new(move |_| {
        let ends = ends.get().unwrap_or((f64::NAN, f64::NAN));
        let floor = floor();
        ticks(table.get(), scale.get(), ends, |value| match &floor {
            Some((_, floor)) if value == 0.0 => floor.clone(),
            _ => number::round(lang.get(), value),
        })
    });
    // A fixed number of elements: removed ones would stay in memory.
    let tick = move |n: usize| {
        let at = move || all.with(|all| all.get(n).cloned());
        let text = move || at().map(|tick| tick.text);
        view! {
            <span
                class="legend-tick"
                hidden=move || at().is_none()
                style:left=move || format!("{}%", at().map_or(0.0, |tick| tick.place * 100.0))
            >
                {text}
            </span>
        }
    };
    view! {
        <div class="legend" role="img" aria-label=label>
            <span class="legend-number low">{low}</span>
            <span class="legend-bar" style:background-image=colors>
                {rich(move || coarse().unwrap_or_default())}
            </span>
            <span class="legend-ticks">{(0..MOST).map(tick).collect_view()}</span>
            <span class="legend-number">{high}</span>
            <span class="legend-masked">
                <span class="legend-hatch"></span>
                {t(words::MASKED)}
            </span>
        </div>
    }
}
