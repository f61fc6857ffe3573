//! Turns cells into texels: one cell each, or the largest by magnitude or the mean of several.

use std::ops::Range;

use crate::pixels::{self, Pooled};

use attnscope_engine::{MapView, Pool};
use attnscope_scene::Rect;

use super::rows::Row;

/// A picture before colouring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texels {
    /// Texels down.
    pub rows: usize,
    /// Texels across.
    pub cols: usize,
    /// Values, row by row.
    pub values: Vec<f32>,
    /// Share of each texel's cells that are visible.
    pub shares: Vec<f32>,
}

impl Texels {
    /// Masked texels.
    pub fn new(rows: u32, cols: u32) -> Self {
        let (rows, cols) = (rows as usize, cols as usize);
        Self {
            rows,
            cols,
            values: vec![0.0; rows * cols],
            shares: vec![0.0; rows * cols],
        }
    }

    /// Smallest and largest value of the visible texels.
    pub fn range(&self) -> Option<(f32, f32)> {
        pixels::range(&self.values, &self.shares)
    }

    /// Row `y`.
    fn row(&mut self, y: usize) -> (&mut [f32], &mut [f32]) {
        let at = y * self.cols..(y + 1) * self.cols;
        (&mut self.values[at.clone()], &mut self.shares[at])
    }

    /// Copies row `from` to the rows after it, up to `end`.
    pub fn repeat(&mut self, from: usize, end: usize) {
        let at = from * self.cols..(from + 1) * self.cols;
        for y in from + 1..end.min(self.rows) {
            self.values.copy_within(at.clone(), y * self.cols);
            self.shares.copy_within(at.clone(), y * self.cols);
        }
    }

    /// The largest by magnitude of a plain matrix's cells in every texel; all are visible.
    pub fn of_matrix(matrix: &[f32], (rows, cols): (usize, usize), texels: (u32, u32)) -> Self {
        let mut out = Self::new(texels.0, texels.1);
        out.shares.fill(1.0);
        let (down, across) = (edges(rows, out.rows), edges(cols, out.cols));
        for y in 0..out.rows {
            for i in down[y]..down[y + 1] {
                for x in 0..out.cols {
                    let cells = &matrix[i * cols..][across[x]..across[x + 1]];
                    let value = &mut out.values[y * out.cols + x];
                    for &cell in cells {
                        if cell.abs() > value.abs() {
                            *value = cell;
                        }
                    }
                }
            }
        }
        out
    }
}

/// First cell of every texel when `cells` are spread over `texels`, and the end.
fn edges(cells: usize, texels: usize) -> Vec<usize> {
    (0..=texels)
        .map(|at| (at as u64 * cells as u64 / texels.max(1) as u64) as usize)
        .collect()
}

/// The mapping from cells to texels.
pub struct Cells {
    rows: Vec<usize>,
    cols: Vec<usize>,
    mean: bool,
}

impl Cells {
    /// The mapping of a large map.
    pub fn of_map(map: &MapView) -> Self {
        Self::new(map.rect, map.texel_rows, map.texel_cols, map.pool)
    }

    /// `rect` spread over the given number of texels.
    pub fn new(rect: Rect, texel_rows: u32, texel_cols: u32, pool: Pool) -> Self {
        let spread = |first: u32, cells: u32, texels: u32| {
            let mut all = edges(cells as usize, texels as usize);
            for at in &mut all {
                *at += first as usize;
            }
            all
        };
        Self {
            rows: spread(rect.row, rect.rows, texel_rows),
            cols: spread(rect.col, rect.cols, texel_cols),
            mean: pool == Pool::Mean,
        }
    }

    /// Rows of cells of texel row `y`.
    pub fn band(&self, y: usize) -> Range<usize> {
        self.rows[y]..self.rows[y + 1]
    }

    /// Whether a texel is as wide as a cell.
    fn is_crisp(&self) -> bool {
        self.cols[self.cols.len() - 1] - self.cols[0] == self.cols.len() - 1
    }

    /// Adds one row of cells to texel row `y`; `thinned` when `seen` decides about each key.
    pub fn add(&self, texels: &mut Texels, y: usize, row: &Row, thinned: bool) {
        let (values, counts) = texels.row(y);
        let (first, end) = (self.cols[0], self.cols[self.cols.len() - 1]);
        let one_each = self.is_crisp() && self.band(y).len() == 1;
        for range in &row.span.ranges {
            let cells = range.start.max(first)..range.end.min(end);
            if cells.is_empty() {
                continue;
            }
            if one_each && !thinned {
                let at = cells.start - first..cells.end - first;
                values[at.clone()].copy_from_slice(&row.values[cells]);
                counts[at].fill(1.0);
                continue;
            }
            let pooled = Pooled {
                cells: &row.values,
                seen: &row.seen,
                edges: &self.cols,
                mean: self.mean,
            };
            pixels::pool(&pooled, cells, values, counts);
        }
    }

    /// Finishes texel row `y` of `rows` rows of cells.
    pub fn close(&self, texels: &mut Texels, y: usize, rows: usize) {
        let mean = self.mean;
        if rows == 1 && self.is_crisp() {
            return; // One cell is its own mean and counts once.
        }
        let widths = self.cols.windows(2).map(|edge| edge[1] - edge[0]);
        let (values, shares) = texels.row(y);
        for ((value, share), width) in values.iter_mut().zip(shares).zip(widths) {
            if mean {
                *value /= share.max(1.0);
            }
            *share /= (rows * width) as f32;
        }
    }

    /// Clears texel row `y`.
    pub fn open(texels: &mut Texels, y: usize) {
        let (values, counts) = texels.row(y);
        values.fill(0.0);
        counts.fill(0.0);
    }
}
