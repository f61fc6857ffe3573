//! The passes after the heads: O, Y, the low-rank Y, energies, and their texels.

use std::ops::Range;

use crate::lanes::{self, LANES};
use crate::tile::{Matrix, Panels, linear, tile_sum};

use attnscope_attention::layer::{Linear, Output};
use attnscope_engine::passes::Pass;
use attnscope_engine::sizes::partial_sums;
use attnscope_engine::steps::{Job, RowRange};
use attnscope_scene::Quantity;

use super::engine::{CpuEngine, Shown};
use super::rows::{GROUP, biased, reach};
use super::texels::Texels;

/// O, Y, the low-rank Y, T, and the sums of squares of the columns of T and Y.
#[derive(Default)]
pub struct Outputs {
    /// O `[L, d]`.
    pub o: Vec<f32>,
    /// Y.
    pub y: Vec<f32>,
    /// Low-rank Y.
    pub y_low: Vec<f32>,
    /// T.
    pub t: Vec<f32>,
    /// Sums of T's first components times W_2, every few components: a changed rank starts from
    /// one.
    partials: Vec<Vec<f32>>,
    /// ‖T_c‖² by component, and ‖Y‖².
    pub energy: (Vec<f32>, f32),
}

impl CpuEngine {
    /// A range of rows of O of one head: weights times v'.
    pub(super) fn attend(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let (head, rows) = (job.unit as usize, job.rows);
        let (len, dim) = (shown.sizes.seq_len, shown.sizes.head_dim);
        let d = shown.sizes.heads * dim;
        let mut o = std::mem::take(&mut self.outputs.o);
        o.resize(len * d, 0.0);
        let made = self.head(shown, head, Quantity::Weights);
        let p_v = shown.frame.biases.p_v.as_ref();
        let nothing = vec![0.0; dim];
        let value = biased(p_v, head, &self.heads[2][head], &nothing);
        let values = Panels::new(dim, len, &|c, j| value(j, c));
        let mut group = made.buffers();
        let (first, end) = (rows.0 as usize, rows.1 as usize);
        for i in (first..end).step_by(GROUP) {
            made.make(i, end, &mut group);
            let reach = reach(&group);
            for p in 0..values.count() {
                let width = LANES.min(dim - p * LANES);
                let weights =
                    |range: &Range<usize>| group.each_ref().map(|row| &row.values[range.clone()]);
                let sums = reach
                    .each_ref()
                    .map(|range| (weights(range), values.panel(p, range.clone())));
                for (n, sum) in tile_sum(sums).iter().enumerate().take(end - i) {
                    let at = (i + n) * d + head * dim + p * LANES;
                    o[at..at + width].copy_from_slice(&sum[..width]);
                }
            }
        }
        self.outputs.o = o;
        true
    }

    /// Y from O, with the layer's own output projection.
    pub(super) fn full(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let rows = job.rows;
        let d = shown.sizes.heads * shown.sizes.head_dim;
        let mut y = std::mem::take(&mut self.outputs.y);
        y.resize(shown.sizes.seq_len * d, 0.0);
        match &shown.frame.layer.output {
            Output::Identity => y.copy_from_slice(&self.outputs.o),
            Output::Factors { .. } => self.sum_components(shown, rows, &mut y),
            Output::Full(Linear { weight, bias }) => {
                let of = |data| Matrix { data, stride: d };
                let bias = bias.as_ref().map(|b| &*b.data);
                let rows = rows.0 as usize..rows.1 as usize;
                linear(
                    of(&self.outputs.o),
                    of(&weight.data),
                    (d, d),
                    bias,
                    rows,
                    &mut y,
                );
            }
        }
        self.outputs.y = y;
        true
    }

    /// T = O W_1ᵀ.
    pub(super) fn components(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let rows = job.rows;
        let Some((w_1, _)) = shown.frame.projection_factors() else {
            return true;
        };
        let stride = shown.sizes.heads * shown.sizes.head_dim;
        let count = w_1.shape.first().copied().unwrap_or(0);
        let Outputs { o, t, .. } = &mut self.outputs;
        t.resize(shown.sizes.seq_len * count, 0.0);
        let of = |data| Matrix { data, stride };
        let rows = rows.0 as usize..rows.1 as usize;
        linear(of(o), of(&w_1.data), (count, stride), None, rows, t);
        true
    }

    /// Y from factors: all components.
    fn sum_components(&self, shown: &Shown, rows: RowRange, y: &mut [f32]) {
        let all = 0..shown.frame.components() as usize;
        let rows = rows.0 as usize..rows.1 as usize;
        self.add_components(shown, rows, all, output_bias(shown), y);
    }

    /// A partial sum: the previous one and the next components.
    pub(super) fn partial(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let (at, rows) = (job.unit, job.rows);
        let sums = partial_sums(&shown.sizes, shown.frame.components());
        let (d, step) = (shown.sizes.heads * shown.sizes.head_dim, sums.step as usize);
        let at = at as usize;
        let rows = rows.0 as usize..rows.1 as usize;
        self.outputs
            .partials
            .resize(sums.count as usize, Vec::new());
        let mut sum = std::mem::take(&mut self.outputs.partials[at]);
        sum.resize(shown.sizes.seq_len * d, 0.0);
        let next = at * step..(at + 1) * step;
        self.add_components(shown, rows.clone(), next, None, &mut sum);
        if at > 0 {
            let cells = rows.start * d..rows.end * d;
            let before = &self.outputs.partials[at - 1];
            lanes::add(&mut sum[cells.clone()], &before[cells], 0.0);
        }
        self.outputs.partials[at] = sum;
        true
    }

    /// Low-rank Y: the last partial sum below the rank, and the remaining components.
    pub(super) fn low_rank(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let rows = job.rows;
        let rank = shown.frame.output_rank();
        let sums = partial_sums(&shown.sizes, shown.frame.components());
        let before = sums.before(rank);
        let d = shown.sizes.heads * shown.sizes.head_dim;
        let mut y = std::mem::take(&mut self.outputs.y_low);
        y.resize(shown.sizes.seq_len * d, 0.0);
        let rows = rows.0 as usize..rows.1 as usize;
        let rest = (before * sums.step) as usize..rank as usize;
        self.add_components(shown, rows.clone(), rest, output_bias(shown), &mut y);
        if let Some(before) = before.checked_sub(1) {
            let cells = rows.start * d..rows.end * d;
            let sum = &self.outputs.partials[before as usize];
            lanes::add(&mut y[cells.clone()], &sum[cells], 0.0);
        }
        self.outputs.y_low = y;
        true
    }

    /// A range of rows of y: some components of T times W_2, and a bias.
    fn add_components(
        &self,
        shown: &Shown,
        rows: Range<usize>,
        some: Range<usize>,
        bias: Option<&[f32]>,
        y: &mut [f32],
    ) {
        let Some((_, w_2)) = shown.frame.projection_factors() else {
            return;
        };
        let d = shown.sizes.heads * shown.sizes.head_dim;
        let stride = w_2.shape.get(1).copied().unwrap_or(1);
        if some.is_empty() {
            for row in y[rows.start * d..rows.end * d].chunks_exact_mut(d) {
                match bias {
                    Some(bias) => row.copy_from_slice(bias),
                    None => row.fill(0.0),
                }
            }
            return;
        }
        let from = |data| Matrix { data, stride };
        let (t, w) = (&self.outputs.t[some.start..], &w_2.data[some.start..]);
        linear(from(t), from(w), (d, some.len()), bias, rows, y);
    }

    pub(super) fn energy(&mut self, shown: &Shown, _: Job, _: &mut i64) -> bool {
        let d = shown.sizes.heads * shown.sizes.head_dim;
        let Outputs { y, t, energy, .. } = &mut self.outputs;
        let count = shown
            .frame
            .projection_factors()
            .map_or(0, |(w_1, _)| w_1.shape[0]);
        let all: f64 = squares(y, d).iter().sum();
        let components = squares(t, count).iter().map(|&e| e as f32).collect();
        *energy = (components, all as f32);
        true
    }

    /// Texels of Y (below) or of the low-rank Y (above).
    pub(super) fn output_texels(&mut self, shown: &Shown, job: Job, _: &mut i64) -> bool {
        let Some(view) = &shown.frame.output else {
            return true;
        };
        let upper = job.pass == Pass::LowTexels;
        let d = shown.sizes.heads * shown.sizes.head_dim;
        let matrix = if upper && shown.frame.config.out_rank.is_some() {
            &self.outputs.y_low
        } else {
            &self.outputs.y
        };
        let texels = (view.texel_rows, view.texel_cols);
        let made = Texels::of_matrix(matrix, (shown.sizes.seq_len, d), texels);
        self.output[usize::from(!upper)] = made;
        true
    }
}

/// b_O.
fn output_bias(shown: &Shown) -> Option<&[f32]> {
    match &shown.frame.layer.output {
        Output::Full(Linear { bias, .. }) | Output::Factors { bias, .. } => {
            bias.as_ref().map(|bias| &*bias.data)
        }
        Output::Identity => None,
    }
}

/// Sum of squares of every column.
fn squares(matrix: &[f32], cols: usize) -> Vec<f64> {
    let mut sums = vec![0.0; cols];
    for row in matrix.chunks_exact(cols.max(1)) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    sums
}
