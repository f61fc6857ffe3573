//! The jobs behind the heads: O, Y, its low-rank twin, energies, and their texels.

use attnscope_attention::layer::{Linear, Output};
use attnscope_engine::jobs::{Job, Part, Rows, components, factors, has_bias, low_rank};
use attnscope_engine::sizes::{Sizes, partial_sums, vec4s};
use attnscope_scene::Quantity;

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{EnergyParams, LinearParams, MapParams, MatrixParams, NOTHING, OutputParams};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::params::variant;
use super::sums::{Sum, low_rank_sum, model_bytes, model_dim, partial};
use super::variant::Variant;
use attnscope_engine::needs::Name;

impl GpuEngine {
    pub(super) fn encode_output(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        job: Job,
        timed: Timed,
    ) {
        for kernel in [Kernel::Linear, Kernel::Energy, Kernel::Matrix] {
            self.need(kernel, Variant::default());
        }
        match job {
            Job::Attend(head, rows) => self.attend(shown, slice, head, rows, timed),
            Job::Full(rows) => self.full(shown, slice, rows, timed),
            Job::Components(rows) => self.components(shown, slice, rows, timed),
            Job::Partial(part, rows) => {
                let sum = partial(shown, part);
                self.sum_components(shown, slice, rows, Name::YLow, sum, timed);
            }
            Job::LowRank(rows) => {
                let sum = low_rank_sum(shown);
                self.sum_components(shown, slice, rows, Name::YLow, sum, timed);
            }
            Job::Energy => self.energy(shown, slice, timed),
            // The full output alone sets the range: it does not move with the rank.
            Job::FullTexels => {
                self.clear_range(slice, 1);
                self.matrix_texels(shown, slice, Name::Y, Half::Lower, timed);
            }
            Job::LowTexels => {
                let from = match low_rank(&shown.frame) {
                    None => Name::Y,
                    Some(_) => Name::YLow,
                };
                self.matrix_texels(shown, slice, from, Half::Upper, timed);
            }
            _ => {}
        }
    }

    fn attend(&mut self, shown: &Shown, slice: &mut Slice, head: u32, rows: Rows, timed: Timed) {
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
        let values = if has_bias(&shown.frame, Part::V) {
            Name::VBiased
        } else {
            Name::V
        };
        let threads =
            u64::from((rows.1 - rows.0).div_ceil(4)) * sizes.head_stride.div_ceil(8) as u64;
        let group = self.head_args(shown, slice, head, rows);
        let out = [
            self.stats_arg(&shown.stats, head),
            slice.params(&params),
            self.of_head(values, head, sizes.head_bytes),
            self.whole(Name::O),
        ];
        self.launch_variant(
            slice,
            (Kernel::Output, variant, threads, timed),
            &[&group, &out],
        );
    }

    /// Y from O, as the layer has it.
    fn full(&mut self, shown: &Shown, slice: &mut Slice, rows: Rows, timed: Timed) {
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
                self.linear(slice, params, timed, [Name::O, Name::WO, Name::BO], out);
            }
            Output::Factors { .. } => {
                let sum = Sum {
                    first: 0,
                    end: components(&shown.frame),
                    start: NOTHING,
                    to: 0,
                    finished: true,
                };
                self.sum_components(shown, slice, rows, Name::Y, sum, timed);
            }
            Output::Identity => {
                if let (Some(o), Some(y)) = (self.store.get(Name::O), self.store.get(Name::Y)) {
                    slice.encoder.copy_buffer_to_buffer(o, 0, y, 0, y.size());
                }
            }
        }
    }

    /// T = O W_1ᵀ.
    fn components(&mut self, shown: &Shown, slice: &mut Slice, rows: Rows, timed: Timed) {
        let Some((w_1, _)) = factors(&shown.frame) else {
            return;
        };
        let sizes = &shown.sizes;
        let count = components(&shown.frame);
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
        self.linear(slice, params, timed, [Name::O, Name::W1, Name::W1], out);
    }

    /// Y, its low-rank twin, or a partial sum of that.
    fn sum_components(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        rows: Rows,
        to: Name,
        sum: Sum,
        timed: Timed,
    ) {
        let Some((_, w_2)) = factors(&shown.frame) else {
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
            partial_sums(sizes, components(&shown.frame)).count
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
        self.linear(slice, params, timed, [Name::T, Name::W2, Name::BO], out);
    }

    fn energy(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
        let sizes = &shown.sizes;
        let parts = if factors(&shown.frame).is_some() {
            components(&shown.frame)
        } else {
            0
        };
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
                slice.params(&EnergyParams {
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
            self.launch(slice, (Kernel::Energy, u64::from(cols), timed), &[&args]);
        }
    }

    /// Texels of Y (below) or of its low-rank twin (above).
    fn matrix_texels(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        from: Name,
        half: Half,
        timed: Timed,
    ) {
        let Some(view) = &shown.frame.output else {
            return;
        };
        let texels = view.texel_rows * view.texel_cols;
        self.ensure_ranges(&shown.sizes);
        self.store.ensure(
            &self.context.device,
            Name::OutputTexels,
            u64::from(texels) * 16,
        );
        let (offset, widens) = match half {
            Half::Upper => (0, 0),
            Half::Lower => (texels, 1),
        };
        let shape = [slice.params(&MatrixParams {
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
            slice.params(&map),
            self.whole(Name::OutputTexels),
            Arg::Span(self.range(1)),
        ];
        self.launch(
            slice,
            (Kernel::Matrix, u64::from(texels), timed),
            &[&shape, &out],
        );
    }
}

/// Which map of the two.
#[derive(Clone, Copy)]
enum Half {
    /// Low rank.
    Upper,
    /// Y.
    Lower,
}

/// Y = X Wᵀ + b of model width, over the first `inner` of `row` columns.
fn output_linear(sizes: &Sizes, rows: Rows, inner: u32, row: u32, has_bias: bool) -> LinearParams {
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
