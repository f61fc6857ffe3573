//! Matrix products by tiles of four rows and eight columns: scores, projections and A V' all have
//! this shape.

use std::ops::Range;

use wide::f32x8;

use crate::lanes::LANES;

/// A matrix in panels of eight columns, each `[inner, 8]`: [`tile`] reads contiguous memory.
#[derive(Debug, Default)]
pub struct Panels {
    data: Vec<f32>,
    inner: usize,
}

impl Panels {
    /// Packs `columns` columns of `inner` numbers; column o, number c is `at(o, c)`. The last panel
    /// is padded with zeros.
    pub fn new(columns: usize, inner: usize, at: &dyn Fn(usize, usize) -> f32) -> Self {
        let mut data = vec![0.0; columns.div_ceil(LANES) * LANES * inner];
        for (p, panel) in data.chunks_exact_mut((LANES * inner).max(1)).enumerate() {
            for lane in 0..LANES.min(columns - p * LANES) {
                for c in 0..inner {
                    panel[c * LANES + lane] = at(p * LANES + lane, c);
                }
            }
        }
        Self { data, inner }
    }

    /// Panel `at`, numbers `range` of its columns.
    pub fn panel(&self, at: usize, range: Range<usize>) -> &[f32] {
        let base = at * self.inner;
        &self.data[(base + range.start) * LANES..(base + range.end) * LANES]
    }

    /// How many panels there are.
    pub fn count(&self) -> usize {
        self.data.len() / (LANES * self.inner).max(1)
    }
}

/// Four rows times one panel.
pub type Tile = [f32x8; 4];

/// Σ_c x_c · panel_c for four rows. Not inlined: one call computes 8 · 4 results.
#[inline(never)]
pub fn tile(x: [&[f32]; 4], panel: &[f32]) -> Tile {
    let zero = f32x8::splat(0.0);
    let [mut a, mut b, mut c, mut d] = [zero; 4];
    let (steps, _) = panel.as_chunks::<LANES>();
    let rows = x[0].iter().zip(x[1]).zip(x[2]).zip(x[3]);
    for (p, (((x0, x1), x2), x3)) in steps.iter().zip(rows) {
        let p = f32x8::new(*p);
        a += f32x8::splat(*x0) * p;
        b += f32x8::splat(*x1) * p;
        c += f32x8::splat(*x2) * p;
        d += f32x8::splat(*x3) * p;
    }
    [a, b, c, d]
}

/// The same, multiplied by `scale`, written to eight numbers of four rows.
pub fn tile_into(x: [&[f32]; 4], panel: &[f32], scale: f32, to: [&mut [f32]; 4]) {
    let scale = f32x8::splat(scale);
    for (to, sum) in to.into_iter().zip(tile(x, panel)) {
        to.copy_from_slice(&(sum * scale).to_array());
    }
}

/// Adds four rows of two products.
pub fn tile_sum(parts: [([&[f32]; 4], &[f32]); 2]) -> [[f32; LANES]; 4] {
    let [a, b] = parts.map(|(x, panel)| tile(x, panel));
    std::array::from_fn(|n| (a[n] + b[n]).to_array())
}

/// A matrix as rows that are `stride` numbers apart.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// Its numbers.
    pub data: &'a [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
}

impl<'a> Matrix<'a> {
    /// Numbers `range` of rows `at ..= at + 3`; rows from `end` on repeat the last one.
    pub fn four(self, at: usize, end: usize, range: &Range<usize>) -> [&'a [f32]; 4] {
        std::array::from_fn(|n| {
            let row = (at + n).min(end - 1) * self.stride;
            &self.data[row + range.start..row + range.end]
        })
    }
}

/// Rows `rows` of Y = X Wᵀ + b. W is given by its first used row; `inner` numbers of a row are
/// used. Y has rows of `outs` numbers.
pub fn linear(
    x: Matrix<'_>,
    w: Matrix<'_>,
    (outs, inner): (usize, usize),
    bias: Option<&[f32]>,
    rows: Range<usize>,
    y: &mut [f32],
) {
    let panels = Panels::new(outs, inner, &|o, c| w.data[o * w.stride + c]);
    for p in 0..panels.count() {
        let o = p * LANES;
        let width = LANES.min(outs - o);
        let mut add = [0.0; LANES];
        if let Some(bias) = bias {
            add[..width].copy_from_slice(&bias[o..o + width]);
        }
        for i in rows.clone().step_by(4) {
            let sums = tile(x.four(i, rows.end, &(0..inner)), panels.panel(p, 0..inner));
            for (n, sum) in sums.iter().enumerate().take(rows.end - i) {
                let at = (i + n) * outs + o;
                let sum = (*sum + f32x8::new(add)).to_array();
                y[at..at + width].copy_from_slice(&sum[..width]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        for (rows, outs, inner) in [(1, 1, 1), (5, 9, 3), (8, 16, 32), (7, 12, 12)] {
            let x: Vec<f32> = (0..rows * inner).map(|i| (i % 7) as f32 - 3.0).collect();
            let w: Vec<f32> = (0..outs * inner).map(|i| (i % 5) as f32 - 2.0).collect();
            let b: Vec<f32> = (0..outs).map(|i| i as f32).collect();
            let mut y = vec![0.0; rows * outs];
            let of = |data, stride| Matrix { data, stride };
            let (xm, wm) = (of(&x, inner), of(&w, inner));
            linear(xm, wm, (outs, inner), Some(&b), 0..rows, &mut y);
            for i in 0..rows {
                for o in 0..outs {
                    let sum: f32 = (0..inner)
                        .map(|c| x[i * inner + c] * w[o * inner + c])
                        .sum();
                    assert!((y[i * outs + o] - sum - b[o]).abs() < 1e-4);
                }
            }
        }
    }
}
