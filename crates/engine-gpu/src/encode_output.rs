//! The passes after the heads as launches: O, Y, the low-rank Y, energies, and their texels.

use attnscope_attention::layer::{Linear, Output};
use attnscope_engine::needs::Name;
use attnscope_engine::passes::Pass;
use attnscope_engine::sizes::{PaddedSizes, partial_sums, vec4s};
use attnscope_engine::steps::{Job, RowRange};
use attnscope_scene::Quantity;

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{EnergyParams, LinearParams, MapParams, MatrixParams, NOTHING, OutputParams};
use super::launch::{Arg, Submission, Timed};
use super::params::variant;
use super::passes::{Kernel, Variant};

impl GpuEngine {
    /// A range of rows of O of one head.
    pub(super) fn attend(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (head, rows) = (job.unit, job.rows);
        self.supply(shown);
        let variant = variant(shown, Quantity::Weights);
        self.need(Kernel::Output, variant);
        let sizes = &shown.sizes;
        self.store
            .ensure(&self.context.device, Name::O, model_bytes(sizes));
        let params = OutputParams {
            head_dim: sizes.head_dim as u32,
            value_stride: sizes.head_stride as u32,
            out_stride: sizes.model_stride as u32 * 4,
            out_col: head * sizes.head_dim as u32,
        };
        let values = if shown.frame.has_value_bias() {
            Name::VBiased
        } else {
            Name::V
        };
        let threads =
            u64::from((rows.1 - rows.0).div_ceil(4)) * sizes.head_stride.div_ceil(8) as u64;
        let group = self.head_args(shown, submission, head, rows);
        let out = [
            self.stats_arg(&shown.stats, head),
            submission.params(&params),
            self.of_head(values, head, sizes.head_bytes),
            self.whole(Name::O),
        ];
        self.launch_variant(
            submission,
            (Kernel::Output, variant, threads, timed),
            &[&group, &out],
        );
        true
    }

    /// Y from O, with the layer's own output projection.
    pub(super) fn full(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        self.need(Kernel::Linear, Variant::default());
        let rows = job.rows;
        let sizes = &shown.sizes;
        self.store
            .ensure(&self.context.device, Name::Y, model_bytes(sizes));
        match &shown.frame.layer.output {
            Output::Full(linear) => {
                if !self.store.is_uploaded(Name::WO) {
                    self.uploader().linear(Name::WO, Name::BO, linear);
                }
                let inner = model_dim(sizes);
                let params = output_linear(sizes, rows, inner, inner, linear.bias.is_some());
                let out = self.whole(Name::Y);
                self.linear(
                    submission,
                    params,
                    timed,
                    [Name::O, Name::WO, Name::BO],
                    out,
                );
            }
            Output::Factors { .. } => {
                let sum = Sum {
                    first: 0,
                    end: shown.frame.components(),
                    start: NOTHING,
                    to: 0,
                    finished: true,
                };
                self.sum_components(shown, submission, rows, Name::Y, sum, timed);
            }
            Output::Identity => {
                if let (Some(o), Some(y)) = (self.store.get(Name::O), self.store.get(Name::Y)) {
                    submission
                        .encoder
                        .copy_buffer_to_buffer(o, 0, y, 0, y.size());
                }
            }
        }
        true
    }

    /// T = O W_1ᵀ.
    pub(super) fn components(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        self.need(Kernel::Linear, Variant::default());
        let rows = job.rows;
        let Some((w_1, _)) = shown.frame.projection_factors() else {
            return true;
        };
        let sizes = &shown.sizes;
        let count = shown.frame.components();
        let bytes = sizes.seq_len as u64 * vec4s(count as usize) as u64 * 16;
        self.store.ensure(&self.context.device, Name::T, bytes);
        if !self.store.is_uploaded(Name::W1) {
            self.uploader().weight(Name::W1, w_1);
        }
        let params = LinearParams {
            outs: count,
            w_stride: count,
            y_stride: vec4s(count as usize) as u32 * 4,
            ..output_linear(sizes, rows, model_dim(sizes), model_dim(sizes), false)
        };
        let out = self.whole(Name::T);
        self.linear(
            submission,
            params,
            timed,
            [Name::O, Name::W1, Name::W1],
            out,
        );
        true
    }

    /// A range of rows of the low-rank Y or of one of its partial sums.
    pub(super) fn low_rank(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        self.need(Kernel::Linear, Variant::default());
        let sum = match job.pass {
            Pass::PartialSum => partial(shown, job.unit),
            _ => low_rank_sum(shown),
        };
        self.sum_components(shown, submission, job.rows, Name::YLow, sum, timed);
        true
    }

    /// Y, the low-rank Y, or a partial sum of it.
    fn sum_components(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        rows: RowRange,
        to: Name,
        sum: Sum,
        timed: Timed,
    ) {
        let Some((_, w_2)) = shown.frame.projection_factors() else {
            return;
        };
        let sizes = &shown.sizes;
        let row = w_2.shape.get(1).copied().unwrap_or(1);
        if !self.store.is_uploaded(Name::W2) {
            self.uploader().weight(Name::W2, w_2);
        }
        let bias = match &shown.frame.layer.output {
            Output::Full(Linear { bias, .. }) | Output::Factors { bias, .. } => bias.as_ref(),
            Output::Identity => None,
        };
        if let Some(bias) = bias
            && !self.store.is_uploaded(Name::BO)
        {
            self.uploader().numbers(Name::BO, &bias.data);
        }
        let kept = if to == Name::YLow {
            partial_sums(sizes, shown.frame.components()).count
        } else {
            0
        };
        self.store.ensure(
            &self.context.device,
            to,
            model_bytes(sizes) * u64::from(1 + kept),
        );
        let has_bias = sum.finished && bias.is_some();
        let params = LinearParams {
            first: sum.first / 4,
            start: sum.start,
            to: sum.to,
            ..output_linear(sizes, rows, sum.end, row as u32, has_bias)
        };
        let out = self.whole(to);
        self.linear(
            submission,
            params,
            timed,
            [Name::T, Name::W2, Name::BO],
            out,
        );
    }

    /// ‖T_c‖² of every component and the energies of the columns of Y.
    pub(super) fn energy(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        _: Job,
        timed: Timed,
    ) -> bool {
        self.need(Kernel::Energy, Variant::default());
        let sizes = &shown.sizes;
        let parts = shown.frame.components();
        let d = model_dim(sizes);
        self.store.ensure(
            &self.context.device,
            Name::Energies,
            u64::from(parts + d) * 4,
        );
        let y = (Name::Y, d, sizes.model_stride as u32 * 4, parts);
        let t = (Name::T, parts, vec4s(parts as usize) as u32 * 4, 0);
        for (matrix, cols, stride, offset) in [y, t] {
            if cols == 0 {
                continue;
            }
            let args = [
                submission.params(&EnergyParams {
                    rows: sizes.seq_len as u32,
                    cols,
                    stride,
                    offset,
                }),
                self.whole(matrix),
                self.whole(Name::Energies),
            ];
            let timed = Timed {
                begin: timed.begin && matrix == Name::Y,
                end: timed.end && (matrix == Name::T || parts == 0),
            };
            self.launch(
                submission,
                (Kernel::Energy, u64::from(cols), timed),
                &[&args],
            );
        }
        true
    }

    /// Texels of Y (below) or of the low-rank Y (above).
    pub(super) fn matrix_texels(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let Some(view) = &shown.frame.output else {
            return true;
        };
        self.need(Kernel::Matrix, Variant::default());
        let full = job.pass == Pass::FullTexels;
        if full {
            // Only the full output sets the range, so the range does not move with the rank.
            self.clear_range(submission, 1);
        }
        let from = if full || shown.frame.config.out_rank.is_none() {
            Name::Y
        } else {
            Name::YLow
        };
        let texels = view.texel_rows * view.texel_cols;
        self.ensure_ranges(&shown.sizes);
        self.store.ensure(
            &self.context.device,
            Name::OutputTexels,
            u64::from(texels) * 16,
        );
        let (offset, widens) = if full { (texels, 1) } else { (0, 0) };
        let shape = [submission.params(&MatrixParams {
            stride: shown.sizes.model_stride as u32 * 4,
            offset,
            widens,
            pad: 0,
        })];
        let map = MapParams {
            rows: shown.sizes.seq_len as u32,
            cols: model_dim(&shown.sizes),
            texel_rows: view.texel_rows,
            texel_cols: view.texel_cols,
            end: view.texel_rows,
            ..MapParams::default()
        };
        let out = [
            self.whole(from),
            submission.params(&map),
            self.whole(Name::OutputTexels),
            Arg::Span(self.range(1)),
        ];
        self.launch(
            submission,
            (Kernel::Matrix, u64::from(texels), timed),
            &[&shape, &out],
        );
        true
    }
}

/// Y = X Wᵀ + b of model width, over the first `inner` of `row` columns.
fn output_linear(
    sizes: &PaddedSizes,
    rows: RowRange,
    inner: u32,
    row: u32,
    has_bias: bool,
) -> LinearParams {
    LinearParams {
        row0: rows.0,
        row_end: rows.1,
        inner,
        x_stride: vec4s(row as usize) as u32,
        w_stride: model_dim(sizes),
        w_col0: 0,
        outs: model_dim(sizes),
        y_stride: sizes.model_stride as u32 * 4,
        has_bias: u32::from(has_bias),
        first: 0,
        start: NOTHING,
        to: 0,
    }
}

/// Components `first..end` (`first` a multiple of four), added to the sum at `start`.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) first: u32,
    pub(super) end: u32,
    /// Where the sum of the previous components starts, or [`NOTHING`].
    pub(super) start: u32,
    /// Where the result starts.
    pub(super) to: u32,
    /// Whether the bias is added.
    pub(super) finished: bool,
}

/// Where partial sum `part` starts, after the low-rank Y itself; [`NOTHING`] before the first.
pub(super) fn partial_start(shown: &Shown, part: Option<u32>) -> u32 {
    let whole = (model_bytes(&shown.sizes) / 4) as u32;
    part.map_or(NOTHING, |part| (1 + part) * whole)
}

/// The sum of the components up to the end of `part`.
pub(super) fn partial(shown: &Shown, part: u32) -> Sum {
    let step = partial_sums(&shown.sizes, shown.frame.components()).step;
    Sum {
        first: part * step,
        end: (part + 1) * step,
        start: partial_start(shown, part.checked_sub(1)),
        to: partial_start(shown, Some(part)),
        finished: false,
    }
}

/// The low-rank Y, continued from the last partial sum below its rank.
pub(super) fn low_rank_sum(shown: &Shown) -> Sum {
    let sums = partial_sums(&shown.sizes, shown.frame.components());
    let end = shown.frame.output_rank();
    let before = sums.before(end);
    Sum {
        first: before * sums.step,
        end,
        start: partial_start(shown, before.checked_sub(1)),
        to: 0,
        finished: true,
    }
}

/// d.
pub(super) fn model_dim(sizes: &PaddedSizes) -> u32 {
    (sizes.heads * sizes.head_dim) as u32
}

/// Bytes of a matrix `[L, d]`.
pub(super) fn model_bytes(sizes: &PaddedSizes) -> u64 {
    sizes.seq_len as u64 * sizes.model_stride as u64 * 16
}
