//! Rows, cells and maps of a [`Head`] (SPEC 1–4).

use std::ops::Range;

use super::{Auxiliary, Head, ReferenceError};
use crate::config::{FullyMasked, Reading};

/// One row of a head: only the visible keys, or all keys when the row is fully masked and
/// [`FullyMasked::Mean`] gives each the same weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The keys, increasing.
    pub keys: Vec<usize>,
    /// How many keys the query sees: `keys.len()`, or 0 in a fully masked row.
    pub seen: usize,
    /// Raw score r at each of `keys`; 0 in a fully masked row.
    pub score: Vec<f64>,
    /// Weight A at each of `keys`; 0 everywhere else.
    pub weights: Vec<f64>,
    /// G: the number of segments that contain these keys.
    pub segments: usize,
}

/// One cell with the parts of its score (SPEC 1–3).
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whether the query sees the key; if not, `weight` is 0 (or 1/L in a fully masked row with
    /// [`FullyMasked::Mean`]) and the rest is still computed.
    pub visible: bool,
    /// scale · q·k.
    pub qk: f64,
    /// scale · q·P_K.
    pub qp: f64,
    /// s; 0 where the reading ignores it.
    pub s: f64,
    /// r; `qk + qp` unless the score rank is set.
    pub score: f64,
    /// A.
    pub weight: f64,
    /// Sum of the row's weights.
    pub row_sum: f64,
    /// Number of keys that the query sees.
    pub visible_keys: usize,
}

/// A whole map `[L, L]`, row-major, row = query.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// r, 0 where masked.
    pub score: Vec<f64>,
    /// A, 0 where masked.
    pub weights: Vec<f64>,
    /// Whether the cell is visible. Masked cells are not, even if [`FullyMasked::Mean`] gives them a
    /// weight.
    pub visible: Vec<bool>,
}

impl Head {
    /// r at (i, j), visible or not.
    pub fn score(&self, i: usize, j: usize) -> f64 {
        let row = |at: usize| at * self.width..(at + 1) * self.width;
        let (q, k) = (&self.score_q[row(i)], &self.score_k[row(j)]);
        self.config.scale * dot(q, k)
    }

    /// s at (i, j); 0 where there is none or the reading ignores it.
    pub fn auxiliary(&self, i: usize, j: usize) -> f64 {
        match &self.s {
            Auxiliary::None => 0.0,
            Auxiliary::Curve(table, common) => common + f64::from(table[j + self.seq_len - 1 - i]),
            Auxiliary::Dense(s) => s[i * self.seq_len + j],
        }
    }

    /// Row `i`: scores and weights at the visible keys.
    ///
    /// # Panics
    /// When `i` is not below L: a bug of the caller. [`Head::cell`] panics too.
    pub fn row(&self, i: usize) -> Row {
        let keys: Vec<usize> = self
            .config
            .visibility
            .visible_keys(i, self.seq_len, self.mask())
            .collect();
        if keys.is_empty() && self.config.empty == FullyMasked::Mean {
            let l = self.seq_len;
            return Row {
                keys: (0..l).collect(),
                seen: 0,
                score: vec![0.0; l],
                weights: vec![1.0 / l as f64; l],
                segments: 0,
            };
        }
        let score: Vec<f64> = keys.iter().map(|&j| self.score(i, j)).collect();
        // The input of the softmax (SPEC 3).
        let exponents: Vec<f64> = match self.config.reading {
            Reading::Softmax => score.clone(),
            Reading::Bias => keys
                .iter()
                .zip(&score)
                .map(|(&j, r)| r + self.auxiliary(i, j))
                .collect(),
            Reading::Product => keys.iter().map(|&j| self.auxiliary(i, j)).collect(),
        };
        let segments = runs(&keys, self.config.segment_len(self.seq_len));
        let mut weights = segment_softmax(&exponents, &segments);
        if self.config.reading == Reading::Product {
            for (weight, r) in weights.iter_mut().zip(&score) {
                *weight *= r;
            }
        }
        Row {
            seen: keys.len(),
            keys,
            score,
            weights,
            segments: segments.len(),
        }
    }

    /// R of SPEC 7: the largest difference of r, or s, between two keys of one segment of a row,
    /// among the keys whose weight is above 1e-6 of the row's largest; the maximum over all rows.
    pub fn score_spread(&self) -> f64 {
        let segment = self.config.segment_len(self.seq_len);
        let width = |of: &[f64]| {
            let least = of.iter().copied().fold(f64::MAX, f64::min);
            let most = of.iter().copied().fold(f64::MIN, f64::max);
            (most - least).max(0.0)
        };
        let mut spread = 0.0f64;
        for i in 0..self.seq_len {
            let row = self.row(i);
            let most = row.weights.iter().fold(0.0f64, |most, a| most.max(a.abs()));
            for run in runs(&row.keys, segment) {
                let counted: Vec<usize> = run
                    .filter(|&at| row.weights[at].abs() > 1e-6 * most)
                    .collect();
                let r: Vec<f64> = counted.iter().map(|&at| row.score[at]).collect();
                let s: Vec<f64> = counted
                    .iter()
                    .map(|&at| self.auxiliary(i, row.keys[at]))
                    .collect();
                spread = spread.max(width(&r)).max(width(&s));
            }
        }
        spread
    }

    /// The cell (i, j) with the parts of its score.
    pub fn cell(&self, i: usize, j: usize) -> Cell {
        let row = self.row(i);
        let at = row.keys.binary_search(&j).ok();
        let dim = self.head_dim;
        let q = &self.q[i * dim..(i + 1) * dim];
        let k = &self.k[j * dim..(j + 1) * dim];
        let qp = self.p_k.as_ref().map_or(0.0, |p_k| {
            let from = if p_k.len() == dim { 0 } else { j * dim };
            dot(q, &p_k[from..from + dim])
        });
        Cell {
            visible: row.seen > 0 && at.is_some(),
            qk: self.config.scale * dot(q, k),
            qp: self.config.scale * qp,
            s: self.auxiliary(i, j),
            score: self.score(i, j),
            weight: at.map_or(0.0, |at| row.weights[at]),
            row_sum: row.weights.iter().sum(),
            visible_keys: row.seen,
        }
    }

    /// The whole map: L² numbers, for an L whose map fits in memory (tests, export).
    pub fn map(&self) -> Map {
        let l = self.seq_len;
        let mut map = Map {
            score: vec![0.0; l * l],
            weights: vec![0.0; l * l],
            visible: vec![false; l * l],
        };
        for i in 0..l {
            let row = self.row(i);
            for (at, j) in row.keys.into_iter().enumerate() {
                map.score[i * l + j] = row.score[at];
                map.weights[i * l + j] = row.weights[at];
                map.visible[i * l + j] = row.seen > 0;
            }
        }
        map
    }

    /// O of this head, `[L, head_dim]` (SPEC 4).
    ///
    /// # Errors
    /// When the layer is a preview without values.
    pub fn output(&self) -> Result<Vec<f64>, ReferenceError> {
        let v = self.v.as_ref().ok_or(ReferenceError::NoValues)?;
        let dim = self.head_dim;
        let mut output = vec![0.0; self.seq_len * dim];
        for (i, out) in output.chunks_exact_mut(dim).enumerate() {
            let row = self.row(i);
            for (&j, weight) in row.keys.iter().zip(&row.weights) {
                for (o, value) in out.iter_mut().zip(&v[j * dim..(j + 1) * dim]) {
                    *o += weight * value;
                }
            }
        }
        Ok(output)
    }
}

impl Row {
    /// The weights of all L keys, 0 where masked.
    pub fn dense_weights(&self, seq_len: usize) -> Vec<f64> {
        let mut dense = vec![0.0; seq_len];
        for (&j, &weight) in self.keys.iter().zip(&self.weights) {
            dense[j] = weight;
        }
        dense
    }
}

/// The index ranges of `keys` that lie in one segment of `segment_len` keys each.
fn runs(keys: &[usize], segment_len: usize) -> Vec<Range<usize>> {
    let mut from = 0;
    keys.chunk_by(|a, b| a / segment_len == b / segment_len)
        .map(|run| {
            let range = from..from + run.len();
            from = range.end;
            range
        })
        .collect()
}

/// Softmax within each segment, divided by the number of segments (SPEC 3). Without keys the result
/// is empty.
fn segment_softmax(exponents: &[f64], segments: &[Range<usize>]) -> Vec<f64> {
    let mut weights = vec![0.0; exponents.len()];
    for range in segments {
        let z = &exponents[range.clone()];
        let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
        for (weight, z) in weights[range.clone()].iter_mut().zip(z) {
            *weight = (z - top).exp() / (sum * segments.len() as f64);
        }
    }
    weights
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
