//! Colour tables of the heatmaps, and the values of their colours: shared by the engines and the
//! legend of a page.

use super::ColorTable;
use attnscope_scene::ColorScale;

/// Colours per table.
pub const STEPS: usize = 256;

/// The colours of `table` from its lowest to its highest value, sRGB.
pub fn table(table: ColorTable) -> [[u8; 3]; STEPS] {
    let gradient = match table {
        ColorTable::Cividis => colorous::CIVIDIS,
        ColorTable::Diverging => colorous::RED_BLUE,
    };
    std::array::from_fn(|at| {
        // Red is the positive end, as in most plots of signed numbers; the gradient starts with
        // red.
        let at = match table {
            ColorTable::Diverging => STEPS - 1 - at,
            ColorTable::Cividis => at,
        };
        let color = gradient.eval_rational(at, STEPS);
        [color.r, color.g, color.b]
    })
}

/// All tables one after the other as 0x00BBGGRR, in the order of [`ColorTable`]'s numbers.
pub fn packed() -> Vec<u32> {
    [ColorTable::Cividis, ColorTable::Diverging]
        .into_iter()
        .flat_map(|t| table(t).map(|[r, g, b]| u32::from_le_bytes([r, g, b, 0])))
        .collect()
}

/// Where a logarithmic scale starts, as a share of its end: three decades. Smaller magnitudes have
/// the colour of 0.
pub const LOG_FLOOR: f32 = 1e-3;

/// The values of the first and the last colour of `table`, for a picture whose smallest and largest
/// visible values are `found`. A quantity that cannot be negative starts at 0, so that dark always
/// means a small value; one that can has the same reach on both sides of 0.
pub fn ends(table: ColorTable, given: Option<(f32, f32)>, found: Option<(f32, f32)>) -> (f32, f32) {
    match (given, found) {
        (Some(given), _) => given,
        (None, None) => (0.0, 1.0),
        (None, Some((least, most))) if table == ColorTable::Diverging => {
            let reach = least.abs().max(most.abs());
            (-reach, reach)
        }
        (None, Some((_, most))) => (0.0, most),
    }
}

/// The position of `value` in `table` between `ends`, 0 ..= 1, for the ticks of a legend: the
/// engines have their own arithmetic.
pub fn place(table: ColorTable, scale: ColorScale, (low, high): (f64, f64), value: f64) -> f64 {
    let scaled = |share: f64| match scale {
        ColorScale::Linear => share,
        ColorScale::Sqrt => share.sqrt(),
        ColorScale::Log => {
            let floor = f64::from(LOG_FLOOR);
            1.0 - share.max(floor).ln() / floor.ln()
        }
    };
    if table == ColorTable::Diverging {
        let share = ((2.0 * value - low - high) / (high - low)).clamp(-1.0, 1.0);
        0.5 + 0.5 * scaled(share.abs()).copysign(share)
    } else {
        scaled(((value - low) / (high - low)).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_in_the_order_of_their_numbers() {
        let all = packed();
        assert_eq!(all.len(), 2 * STEPS);
        let first = table(ColorTable::Diverging)[0];
        let at = ColorTable::Diverging as usize * STEPS;
        assert_eq!(all[at].to_le_bytes()[..3], first);
    }

    #[test]
    fn diverging_is_blue_below_and_red_above() {
        let t = table(ColorTable::Diverging);
        assert!(t[8][2] > t[8][0]);
        assert!(t[247][0] > t[247][2]);
        let middle = t[127];
        assert!(
            middle.iter().all(|&c| c > 220),
            "zero is nearly white: {middle:?}"
        );
    }
}
