//! Sizes of the pictures in pixels and texels.

use attnscope_engine::tiles::OUTPUT_GAP;

/// Cells of the pictures whose drawing buffers depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Rows and columns of the map that are in sight.
    pub map: (u32, u32),
    /// Rows and columns of the layer output, `[L, d]`.
    pub output: (u32, u32),
}

/// Pixels along an edge of the map: one per cell, but no more than the element has. The browser
/// stretches them (`image-rendering: pixelated`), which costs less than drawing every screen pixel.
pub fn map_pixels(edge: u32, cells: u32) -> u32 {
    edge.min(cells.max(1))
}

/// Texels for `cells` cells on at most `pixels` pixels: as many as fit when each takes equally many
/// cells (the last one may take fewer), so that no texel covers more of the matrix than another.
pub fn even(cells: u32, pixels: u32) -> u32 {
    let cells = cells.max(1);
    cells.div_ceil(cells.div_ceil(pixels.max(1)))
}

/// Texels (rows, columns) of each of the two output maps in a drawing buffer of `width` × `height`.
pub fn output_texels(cells: (u32, u32), width: u32, height: u32) -> (u32, u32) {
    let half = height.saturating_sub(OUTPUT_GAP) / 2;
    (even(cells.0, half), even(cells.1, width))
}

/// The drawing buffer of the output maps: one pixel per texel.
pub fn output_pixels(extent: (u32, u32), cells: (u32, u32)) -> (u32, u32) {
    let (rows, cols) = output_texels(cells, extent.0, extent.1);
    (cols.min(extent.0), (2 * rows + OUTPUT_GAP).min(extent.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_a_pixel_a_cell_while_there_is_room() {
        assert_eq!(map_pixels(600, 120), 120);
        assert_eq!(map_pixels(600, 65_536), 600);
        assert_eq!(map_pixels(0, 24), 0);
        assert_eq!(map_pixels(600, 0), 1);
    }

    #[test]
    fn texels_take_equally_many_cells() {
        assert_eq!(even(24, 102), 24);
        assert_eq!(even(120, 102), 60);
        assert_eq!(even(384, 293), 192);
        assert_eq!(even(512, 102), 86);
        assert_eq!(even(0, 0), 1);
    }

    #[test]
    fn the_buffer_of_the_outputs_holds_its_own_texels() {
        for extent in [(293, 206), (586, 412), (1, 3), (200, 90)] {
            for cells in [(24, 384), (120, 384), (512, 384), (1, 1)] {
                let (width, height) = output_pixels(extent, cells);
                assert!(width <= extent.0 && height <= extent.1);
                let texels = output_texels(cells, width, height);
                assert_eq!(
                    texels,
                    output_texels(cells, extent.0, extent.1),
                    "{extent:?} {cells:?}"
                );
                assert!(texels.0 <= (height - OUTPUT_GAP).div_ceil(2).max(1));
            }
        }
    }
}
