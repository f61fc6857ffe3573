//! The jobs behind the heads: O, Y, its low-rank twin, energies, and their texels.

use crate::attention::layer::{Linear, Output, Tensor};
use crate::engine::sizes::{Sizes, vec4s};
use crate::scene::Quantity;

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{EnergyParams, LinearParams, MapParams, MatrixParams, OutputParams};
use super::jobs::{Job, Part, Rows, has_bias, low_rank, parts};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::params::variant;
use super::store::Name;
use super::variant::Variant;

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
            Job::LowRank(rows) => {
                let inner = components(shown).min(low_rank(&shown.frame).unwrap_or(u32::MAX));
                self.sum_components(shown, slice, rows, inner, Name::YLow, timed);
            }
            Job::Energy => self.energy(shown, slice, timed),
            Job::OutputTexels => self.output_texels(shown, slice, timed),
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
                let inner = components(shown);
                self.sum_components(shown, slice, rows, inner, Name::Y, timed);
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
        let Some((w_1, _)) = factors(shown) else {
            return;
        };
        let sizes = &shown.sizes;
        let count = components(shown);
        let bytes = sizes.seq_len as u64 * vec4s(count as usize) as u64 * 16;
        self.store.ensure(&self.context.device, Name::T, bytes);
        if !self.store.is_uploaded(Name::W1) {
            let row = w_1.shape.get(1).copied().unwrap_or(1);
            self.uploader().matrix(Name::W1, &w_1.data, row);
        }
        let params = LinearParams {
            outs: count,
            y_stride: vec4s(count as usize) as u32 * 4,
            ..output_linear(sizes, rows, model_dim(sizes), model_dim(sizes), false)
        };
        let out = self.whole(Name::T);
        self.linear(slice, params, timed, [Name::O, Name::W1, Name::W1], out);
    }

    /// Y or its low-rank twin from the first `inner` components.
    fn sum_components(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        rows: Rows,
        inner: u32,
        to: Name,
        timed: Timed,
    ) {
        let Some((_, w_2)) = factors(shown) else {
            return;
        };
        let sizes = &shown.sizes;
        let row = w_2.shape.get(1).copied().unwrap_or(1);
        if !self.store.is_uploaded(Name::W2) {
            self.uploader().matrix(Name::W2, &w_2.data, row);
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
        self.store
            .ensure(&self.context.device, to, model_bytes(sizes));
        let params = output_linear(sizes, rows, inner, row as u32, bias.is_some());
        let out = self.whole(to);
        self.linear(slice, params, timed, [Name::T, Name::W2, Name::BO], out);
    }

    fn energy(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
        let sizes = &shown.sizes;
        let parts = if parts(&shown.frame) {
            components(shown)
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

    /// Texels of Y below and of its low-rank twin above, both on one range.
    fn output_texels(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
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
        self.clear_range(slice, 1);
        // While the factors of an asked-for rank are missing the upper map stays as it is.
        let upper = match (low_rank(&shown.frame), parts(&shown.frame)) {
            (None, _) => Some(Name::Y),
            (Some(_), true) => Some(Name::YLow),
            (Some(_), false) => None,
        };
        let mut begin = timed.begin;
        for (name, offset) in [(upper, 0), (Some(Name::Y), texels)] {
            let Some(name) = name else {
                continue;
            };
            let shape = [slice.params(&MatrixParams {
                stride: shown.sizes.model_stride as u32 * 4,
                offset,
                pad: [0; 2],
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
                self.whole(name),
                slice.params(&map),
                self.whole(Name::OutputTexels),
                Arg::Span(self.range(1)),
            ];
            let timed = Timed {
                begin: std::mem::take(&mut begin),
                end: timed.end && offset > 0,
            };
            self.launch(
                slice,
                (Kernel::Matrix, u64::from(texels), timed),
                &[&shape, &out],
            );
        }
    }
}

/// W_1 and W_2: the file's own or those of the SVD.
fn factors(shown: &Shown) -> Option<(&Tensor, &Tensor)> {
    match (&shown.frame.layer.output, &shown.frame.out_factors) {
        (Output::Factors { w_1, w_2, .. }, _) => Some((w_1, w_2)),
        (Output::Full(_), Some(factors)) => Some((&factors.w_1, &factors.w_2)),
        _ => None,
    }
}

/// How many components T has.
pub(super) fn components(shown: &Shown) -> u32 {
    factors(shown).map_or(0, |(w_1, _)| w_1.shape.first().copied().unwrap_or(0) as u32)
}

fn model_dim(sizes: &Sizes) -> u32 {
    (sizes.heads * sizes.head_dim) as u32
}

fn model_bytes(sizes: &Sizes) -> u64 {
    sizes.seq_len as u64 * sizes.model_stride as u64 * 16
}

/// Y = X Wᵀ + b of model width, over the first `inner` of `row` columns.
fn output_linear(sizes: &Sizes, rows: Rows, inner: u32, row: u32, has_bias: bool) -> LinearParams {
    let stride = vec4s(row as usize) as u32;
    LinearParams {
        row0: rows.0,
        row_end: rows.1,
        inner,
        x_stride: stride,
        w_stride: stride,
        w_row0: 0,
        outs: model_dim(sizes),
        y_stride: sizes.model_stride as u32 * 4,
        has_bias: u32::from(has_bias),
        pad: [0; 3],
    }
}
