//! Layout of the small maps of all heads. The engine draws by it, and the buttons follow it.

/// Gap between two small maps in CSS pixels.
pub const GAP: f64 = 4.0;

/// Smallest edge of a small map that can still be pointed at, in CSS pixels (WCAG 2.2, 2.5.8).
const SMALLEST: f64 = 24.0;

/// Largest edge: the four heads of a synthetic layer need not be posters.
const LARGEST: f64 = 88.0;

/// Width that the style sheet reserves for the strip beside the map.
const DEPTH: f64 = 56.0;

/// The small maps on their canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripGrid {
    /// Small maps per line, ≥ 1.
    pub columns: u32,
    /// Lines, ≥ 1.
    pub lines: u32,
    /// Edge of a small map in CSS pixels; gaps are [`GAP`].
    pub edge: f64,
}

impl Default for StripGrid {
    fn default() -> Self {
        Self {
            columns: 1,
            lines: 1,
            edge: 0.0,
        }
    }
}

impl StripGrid {
    /// The fewest lines along an extent of `along` CSS pixels that keep every small map large
    /// enough to point at, with all lines equally full.
    pub fn across(heads: u32, along: f64) -> Self {
        let heads = heads.max(1);
        let along = if along.is_finite() { along } else { 0.0 };
        let fit = ((along + GAP) / (SMALLEST + GAP)).floor().max(1.0) as u32;
        let lines = heads.div_ceil(fit.min(heads));
        let columns = heads.div_ceil(lines);
        let gaps = f64::from(columns - 1) * GAP;
        let edge = ((along - gaps) / f64::from(columns))
            .floor()
            .clamp(0.0, LARGEST);
        Self {
            columns,
            lines,
            edge,
        }
    }

    /// The same, filled from top to bottom and at most [`DEPTH`] wide, for a strip beside the map.
    pub fn down(heads: u32, along: f64) -> Self {
        let Self {
            columns,
            lines,
            edge,
        } = Self::across(heads, along);
        let gaps = f64::from(lines - 1) * GAP;
        let most = ((DEPTH - gaps) / f64::from(lines)).floor().max(0.0);
        Self {
            columns: lines,
            lines: columns,
            edge: edge.min(most),
        }
    }

    /// Width and height in CSS pixels.
    pub fn size(self) -> (f64, f64) {
        let extent = |n: u32| f64::from(n) * (self.edge + GAP) - GAP;
        (extent(self.columns), extent(self.lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_heads() {
        assert_eq!(
            StripGrid::across(12, 700.0),
            StripGrid {
                columns: 12,
                lines: 1,
                edge: 54.0
            }
        );
        let phone = StripGrid::across(12, 358.0);
        assert_eq!((phone.columns, phone.lines, phone.edge), (12, 1, 26.0));
        let small = StripGrid::across(12, 300.0);
        assert_eq!((small.columns, small.lines), (6, 2));
        let desk = StripGrid::down(12, 600.0);
        assert_eq!((desk.columns, desk.lines), (1, 12));
        assert!(desk.size().1 <= 600.0);
        for (heads, along) in [(12, 292.0), (4, 600.0), (16, 200.0)] {
            let (width, height) = StripGrid::down(heads, along).size();
            assert!(
                width <= DEPTH && height <= along,
                "{heads} heads in {along}"
            );
        }
    }

    #[test]
    fn every_head_has_a_place_and_no_extent_panics() {
        for heads in 1..40 {
            for along in [-5.0, 0.0, 100.0, 358.0, 5_000.0, f64::NAN] {
                let grid = StripGrid::across(heads, along);
                assert!(
                    grid.columns * grid.lines >= heads && grid.columns * (grid.lines - 1) < heads
                );
                assert!(grid.edge <= LARGEST);
            }
        }
    }
}
