//! The visible rectangle of the map: zooming, panning, and the cell under a point.

use attnscope_scene::Rect;

/// Smallest number of cells along an edge of the map.
const FEWEST: u32 = 4;

/// `rect` scaled by `factor` (below 1 zooms in) while the cell at the fractions (x, y) stays where
/// it is. `None` when the whole map is visible.
pub fn scaled(rect: Rect, factor: f64, (x, y): (f64, f64), seq_len: u32) -> Option<Rect> {
    let axis = |start: u32, count: u32, at: f64| {
        let target = (f64::from(count) * factor).round();
        let least = FEWEST.min(seq_len.max(1));
        let new = (target.max(1.0) as u32).clamp(least, seq_len.max(1));
        let anchor = f64::from(start) + f64::from(count) * at;
        let from = (anchor - f64::from(new) * at).round().max(0.0) as u32;
        (from.min(seq_len.max(1) - new), new)
    };
    let (row, rows) = axis(rect.row, rect.rows, y.clamp(0.0, 1.0));
    let (col, cols) = axis(rect.col, rect.cols, x.clamp(0.0, 1.0));
    some_part(
        Rect {
            row,
            col,
            rows,
            cols,
        },
        seq_len,
    )
}

/// `rect` moved by whole cells and kept inside the map.
pub fn panned(rect: Rect, (down, right): (i64, i64), seq_len: u32) -> Option<Rect> {
    let axis = |start: u32, count: u32, by: i64| {
        let last = i64::from(seq_len.max(count) - count);
        (i64::from(start) + by).clamp(0, last) as u32
    };
    let moved = Rect {
        row: axis(rect.row, rect.rows, down),
        col: axis(rect.col, rect.cols, right),
        ..rect
    };
    some_part(moved, seq_len)
}

/// `rect` moved as little as possible to make the cell visible.
pub fn showing(rect: Rect, (row, col): (u32, u32), seq_len: u32) -> Option<Rect> {
    let axis = |start: u32, count: u32, at: u32| {
        if at < start {
            at
        } else if at >= start + count {
            at + 1 - count
        } else {
            start
        }
    };
    let moved = Rect {
        row: axis(rect.row, rect.rows, row.min(seq_len.max(1) - 1)),
        col: axis(rect.col, rect.cols, col.min(seq_len.max(1) - 1)),
        ..rect
    };
    some_part(moved, seq_len)
}

/// The part of `rect` with at most this many rows and columns: around a cell, else from its start.
pub fn part(rect: Rect, cell: Option<(u32, u32)>, (rows, cols): (u32, u32)) -> Rect {
    let axis = |start: u32, count: u32, at: Option<u32>, most: u32| {
        let new = count.min(most.max(1));
        let from = at.map_or(start, |at| at.saturating_sub(new / 2));
        (from.clamp(start, start + count - new), new)
    };
    let (row, rows) = axis(rect.row, rect.rows, cell.map(|cell| cell.0), rows);
    let (col, cols) = axis(rect.col, rect.cols, cell.map(|cell| cell.1), cols);
    Rect {
        row,
        col,
        rows,
        cols,
    }
}

/// The cell at fractions (x, y) of the map, if the point is on it.
pub fn cell_at(rect: Rect, (x, y): (f64, f64)) -> Option<(u32, u32)> {
    let axis = |start: u32, count: u32, at: f64| {
        ((0.0..1.0).contains(&at)).then(|| start + (at * f64::from(count)) as u32)
    };
    Some((axis(rect.row, rect.rows, y)?, axis(rect.col, rect.cols, x)?))
}

/// Where an index lies along the rectangle, as fractions (start, extent); `None` if outside.
pub fn band(start: u32, count: u32, at: u32) -> Option<(f64, f64)> {
    let extent = 1.0 / f64::from(count.max(1));
    (at >= start && at - start < count).then(|| (f64::from(at - start) * extent, extent))
}

fn some_part(rect: Rect, seq_len: u32) -> Option<Rect> {
    (rect != Rect::whole(seq_len)).then_some(rect)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn zooming_in_and_out_comes_back_to_all() {
        let all = Rect::whole(24);
        let inner = scaled(all, 0.5, (0.5, 0.5), 24).unwrap();
        assert_eq!(
            inner,
            Rect {
                row: 6,
                col: 6,
                rows: 12,
                cols: 12
            }
        );
        assert_eq!(scaled(inner, 2.0, (0.5, 0.5), 24), None);
    }

    #[test]
    fn the_pointed_cell_stays() {
        let point = (0.25, 0.75);
        let before = cell_at(Rect::whole(512), point).unwrap();
        let inner = scaled(Rect::whole(512), 0.5, point, 512).unwrap();
        let after = cell_at(inner, point).unwrap();
        assert!(before.0.abs_diff(after.0) <= 1 && before.1.abs_diff(after.1) <= 1);
    }

    #[test]
    fn nothing_leaves_the_map() {
        for seq_len in [1, 3, 24, 65_536] {
            let mut rect = Rect::whole(seq_len);
            for _ in 0..20 {
                rect = Rect::visible(scaled(rect, 0.5, (1.0, 0.0), seq_len), seq_len);
                rect = Rect::visible(panned(rect, (100_000, -100_000), seq_len), seq_len);
                assert!(rect.row + rect.rows <= seq_len && rect.col + rect.cols <= seq_len);
                assert!(rect.rows >= 1);
            }
        }
    }

    #[test]
    fn a_part_lies_around_its_cell_and_inside() {
        let part_of = |cell, most| {
            let Rect {
                row,
                col,
                rows,
                cols,
            } = part(Rect::whole(120), cell, most);
            (row, col, rows, cols)
        };
        assert_eq!(part_of(None, (40, 30)), (0, 0, 40, 30));
        assert_eq!(part_of(Some((60, 119)), (40, 30)), (40, 90, 40, 30));
        assert_eq!(part_of(Some((7, 500)), (0, 400)), (7, 0, 1, 120));
    }

    #[test]
    fn cells_and_bands_agree() {
        let rect = Rect {
            row: 4,
            col: 8,
            rows: 4,
            cols: 8,
        };
        assert_eq!(cell_at(rect, (0.99, 0.0)), Some((4, 15)));
        assert_eq!(cell_at(rect, (1.0, 0.5)), None);
        assert_eq!(band(8, 8, 10), Some((0.25, 0.125)));
        assert_eq!(band(8, 8, 16), None);
        assert_eq!(
            showing(rect, (2, 20), 24),
            Some(Rect {
                row: 2,
                col: 13,
                ..rect
            })
        );
    }
}
