//! Colour tables of the heatmaps, the same for the shader and for the legend of a page.

use super::ColorTable;

/// Colours per table.
pub const STEPS: usize = 256;

/// The colours of `table` from its lowest to its highest value, sRGB.
pub fn table(table: ColorTable) -> [[u8; 3]; STEPS] {
    let gradient = match table {
        ColorTable::Cividis => colorous::CIVIDIS,
        ColorTable::Viridis => colorous::VIRIDIS,
        ColorTable::Diverging => colorous::RED_BLUE,
    };
    std::array::from_fn(|at| {
        // Red is the positive end, as in most plots of signed numbers; the gradient starts red.
        let at = match table {
            ColorTable::Diverging => STEPS - 1 - at,
            ColorTable::Cividis | ColorTable::Viridis => at,
        };
        let color = gradient.eval_rational(at, STEPS);
        [color.r, color.g, color.b]
    })
}

/// All tables one after the other as 0x00BBGGRR, in the order of [`ColorTable`]'s numbers.
pub fn packed() -> Vec<u32> {
    [
        ColorTable::Cividis,
        ColorTable::Viridis,
        ColorTable::Diverging,
    ]
    .into_iter()
    .flat_map(|t| table(t).map(|[r, g, b]| u32::from_le_bytes([r, g, b, 0])))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_in_the_order_of_their_numbers() {
        let all = packed();
        assert_eq!(all.len(), 3 * STEPS);
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
