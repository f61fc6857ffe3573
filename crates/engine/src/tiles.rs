//! Where the maps of each picture are on its canvas.

/// Background pixels between the two output maps.
pub const OUTPUT_GAP: u32 = 2;

/// Rectangle of a target in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Width, > 0.
    pub width: f32,
    /// Height, > 0.
    pub height: f32,
}

/// Where small map `at` of `count` is on a canvas of `size` pixels: `columns` in a row, `gap`
/// pixels apart, as large as fits. `None` when the canvas is too small.
pub fn strip_tile(
    size: (u32, u32),
    count: u32,
    columns: u32,
    gap: u32,
    at: u32,
) -> Option<Viewport> {
    let columns = columns.clamp(1, count.max(1));
    let rows = count.div_ceil(columns);
    let width = size.0.checked_sub(gap * (columns - 1))? / columns;
    let height = size.1.checked_sub(gap * (rows - 1))? / rows;
    (width > 0 && height > 0).then(|| Viewport {
        x: ((at % columns) * (width + gap)) as f32,
        y: ((at / columns) * (height + gap)) as f32,
        width: width as f32,
        height: height as f32,
    })
}

/// The two output maps on a canvas of `size` pixels: low rank above, full below,
/// [`OUTPUT_GAP`] between. `None` when the canvas is too small.
pub fn output_tiles(size: (u32, u32)) -> Option<[Viewport; 2]> {
    let half = size.1.checked_sub(OUTPUT_GAP)? / 2;
    let tile = |y: u32| Viewport {
        x: 0.0,
        y: y as f32,
        width: size.0 as f32,
        height: half as f32,
    };
    (half > 0 && size.0 > 0).then(|| [tile(0), tile(size.1 - half)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strip_tiles_stay_inside_and_apart() {
        for (size, count, columns, gap) in [((1200, 100), 12, 12, 4), ((301, 203), 12, 6, 2)] {
            let tiles: Vec<_> = (0..count)
                .filter_map(|at| strip_tile(size, count, columns, gap, at))
                .collect();
            assert_eq!(tiles.len(), count as usize);
            for t in &tiles {
                assert!(t.x + t.width <= size.0 as f32 && t.y + t.height <= size.1 as f32);
            }
            assert!(tiles[1].x >= tiles[0].x + tiles[0].width + gap as f32);
        }
        assert_eq!(strip_tile((3, 3), 12, 12, 4, 0), None);
    }

    #[test]
    fn outputs_share_the_canvas() {
        assert_eq!(output_tiles((10, 2)), None);
        let tiles = output_tiles((10, 100)).map(|t| (t[0].height, t[1].y));
        assert_eq!(tiles, Some((49.0, 51.0)));
    }
}
