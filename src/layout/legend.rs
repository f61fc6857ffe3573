//! Ticks of the legend: round numbers, and their places on the bar.

use attnscope_engine::{ColorTable, colors};
use attnscope_scene::ColorScale;

/// Most ticks.
pub const MOST: usize = 7;

/// Width of the bar in CSS pixels.
const BAR: f64 = 168.0;

/// Smallest distance between two numbers, in pixels.
const GAP: f64 = 3.0;

/// A number and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Share of the bar, 0 ..= 1.
    pub place: f64,
    /// Value of the colour there.
    pub value: f64,
    /// Its label.
    pub text: String,
}

/// Round numbers between the `ends` of a bar in `table`, from left to right; on a diverging table,
/// numbers of one sign stand on both sides. Each has room for its `text`. Empty if the ends are
/// equal or not numbers.
pub fn ticks(
    table: ColorTable,
    scale: ColorScale,
    ends: (f64, f64),
    text: impl Fn(f64) -> String,
) -> Vec<Tick> {
    let (low, high) = ends;
    let wide = high > 0.0 && high.is_finite() && low.is_finite() && high > low;
    if !wide {
        return Vec::new();
    }
    let signed = table == ColorTable::Diverging;
    let place = |value| colors::place(table, scale, ends, value);
    let mut kept: Vec<Tick> = Vec::new();
    // A magnitude stands on both sides of 0 or on neither: all of `values` fit, or none is kept.
    let mut keep = |values: &[f64]| {
        let before = kept.len();
        for &value in values {
            let (place, text) = (place(value), text(value));
            let apart = kept.iter().all(|tick| {
                let room = width(&tick.text).midpoint(width(&text)) + GAP;
                (tick.place - place).abs() * BAR >= room
            });
            if !apart || kept.len() == MOST {
                kept.truncate(before);
                return;
            }
            kept.push(Tick { place, value, text });
        }
    };
    // The numbers that must stay come first.
    if signed {
        keep(&[0.0]);
    }
    for value in round(scale, high, signed) {
        if signed {
            keep(&[value, -value]);
        } else {
            keep(&[value]);
        }
    }
    kept.sort_by(|a, b| a.place.total_cmp(&b.place));
    kept
}

/// Width of a number in pixels, at the legend's size of 11 px in a wide font.
fn width(text: &str) -> f64 {
    let of = |c| match c {
        '.' | ',' | '·' => 3.5,
        '0'..='9' => 7.0,
        '−' | '±' => 9.2,
        // Superscript.
        _ => 4.5,
    };
    text.chars().map(of).sum()
}

/// Round numbers below `high`, the largest first.
fn round(scale: ColorScale, high: f64, signed: bool) -> Vec<f64> {
    let top = high.log10().floor() as i32;
    let (decades, factors): (i32, &[f64]) = match scale {
        ColorScale::Linear => {
            // As many equal steps as fit.
            let most = if signed { 3.0 } else { 5.0 };
            let steps = (top - 1..=top).flat_map(|at| [1.0, 2.0, 5.0].map(|by| by * power(at)));
            let step = steps.into_iter().find(|step| high / step <= most);
            let step = step.unwrap_or(power(top + 1));
            let count = (high / step * (1.0 - 1e-9)).floor() as u32;
            return (1..=count).rev().map(|n| f64::from(n) * step).collect();
        }
        ColorScale::Sqrt => (1, &[5.0, 2.0, 1.0]),
        ColorScale::Log => (3, &[1.0]),
    };
    let decades = (top - decades..=top).rev();
    let all = decades.flat_map(|at| factors.iter().map(move |by| by * power(at)));
    let floor = match scale {
        ColorScale::Log => high * f64::from(colors::LOG_FLOOR) * (1.0 + 1e-6),
        _ => 0.0,
    };
    all.filter(|&value| value < high * (1.0 - 1e-6) && value > floor)
        .collect()
}

/// 10 to the power of `at`, exactly as its decimal literal.
fn power(at: i32) -> f64 {
    let size = 10f64.powi(at.abs());
    if at < 0 { 1.0 / size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ColorScale::{Linear, Log, Sqrt};
    use ColorTable::{Cividis, Diverging};

    fn number(value: f64) -> String {
        attnscope_text::number::round(attnscope_scene::Lang::En, value)
    }

    fn values(table: ColorTable, scale: ColorScale, high: f64) -> Vec<f64> {
        let low = if table == Diverging { -high } else { 0.0 };
        let ticks = ticks(table, scale, (low, high), number);
        ticks.iter().map(|tick| tick.value).collect()
    }

    #[test]
    fn ticks_are_round_numbers_of_the_scale() {
        let close = |got: Vec<f64>, want: &[f64]| {
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
            assert!(
                got.len() == want.len() && got.iter().zip(want).all(near),
                "{got:?} for {want:?}"
            );
        };
        close(values(Cividis, Linear, 0.991), &[0.2, 0.4, 0.6, 0.8]);
        close(
            values(Cividis, Linear, 1.0 / 24.0),
            &[0.01, 0.02, 0.03, 0.04],
        );
        close(values(Cividis, Linear, 1.0), &[0.2, 0.4, 0.6, 0.8]);
        close(values(Cividis, Sqrt, 0.991), &[0.02, 0.1, 0.2, 0.5]);
        close(values(Cividis, Log, 0.991), &[0.001, 0.01, 0.1]);
        close(values(Cividis, Log, 1.0), &[0.01, 0.1]);
        close(values(Cividis, Log, 0.02), &[0.0001, 0.001, 0.01]);
        close(values(Diverging, Linear, 7.3), &[-5.0, 0.0, 5.0]);
        close(values(Diverging, Log, 7.3), &[-1.0, -0.1, 0.0, 0.1, 1.0]);
        assert_eq!(values(Cividis, Linear, 0.0), [0.0; 0]);
        assert_eq!(values(Cividis, Log, f64::NAN), [0.0; 0]);
    }

    #[test]
    fn ticks_have_room_and_stand_at_their_colours() {
        let sizes = (-60..60).map(|at| 1.13f64.powi(at * 5));
        for high in sizes.chain([1e-30, 1e-9, 0.5, 1.0, 2.0, 10.0, 1e6]) {
            for (table, low) in [(Cividis, 0.0), (Diverging, -high)] {
                for scale in [Linear, Sqrt, Log] {
                    let ticks = ticks(table, scale, (low, high), number);
                    let what = format!("{scale:?} {table:?} to {high}: {ticks:?}");
                    assert!((1..=MOST).contains(&ticks.len()), "{what}");
                    for pair in ticks.windows(2) {
                        let ends = pair[0].place * BAR + width(&pair[0].text) / 2.0;
                        let begins = pair[1].place * BAR - width(&pair[1].text) / 2.0;
                        assert!(ends < begins, "{what}");
                        assert!(pair[1].value > pair[0].value, "{what}");
                    }
                    for tick in &ticks {
                        assert!(tick.value.abs() < high && tick.value >= low, "{what}");
                        let share = tick.value.abs() / high;
                        let curve = match scale {
                            Linear => share,
                            Sqrt => share.sqrt(),
                            Log => (1.0 + share.log10() / 3.0).max(0.0),
                        };
                        let want = match table {
                            Diverging => 0.5 + 0.5 * curve.copysign(tick.value),
                            ColorTable::Cividis => curve,
                        };
                        assert!((tick.place - want).abs() < 1e-6, "{what}");
                    }
                }
            }
        }
    }
}
