//! q, k and v of one head, and k' and v', as launches.

use crate::attention::layer::Input;
use crate::engine::jobs::{Part, Rows};
use crate::engine::sizes::{aligned, vec4s};

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{BiasParams, LinearParams, NOTHING};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::store::Name;
use super::upload::{Source, source};
use super::variant::Variant;

impl GpuEngine {
    /// q, k or v of one head: projected from X, or copied from what was given.
    pub(super) fn project(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        part: Part,
        head: u32,
        rows: Rows,
        timed: Timed,
    ) {
        let sizes = &shown.sizes;
        let layer = &shown.frame.layer;
        self.need(Kernel::Linear, Variant::default());
        let (name, weight, bias) = match part {
            Part::Q => (Name::Q, Name::WQ, Name::BQ),
            Part::K => (Name::K, Name::WK, Name::BK),
            Part::V => (Name::V, Name::WV, Name::BV),
        };
        self.uploader().head_space(name, sizes);
        match source(layer, part, head as usize) {
            Source::Given(numbers) => {
                if rows.0 == 0 {
                    self.uploader().head(
                        name,
                        &numbers,
                        sizes.head_dim,
                        head as usize,
                        sizes.head_bytes,
                    );
                }
            }
            Source::Projected(linear) => {
                if !self.store.is_uploaded(weight) {
                    self.uploader().linear(weight, bias, linear);
                }
                if let Input::Hidden { x, .. } = &layer.input
                    && !self.store.is_uploaded(Name::X)
                {
                    self.uploader().matrix(Name::X, &x.data, sizes.input_dim);
                }
                let params = LinearParams {
                    row0: rows.0,
                    row_end: rows.1,
                    inner: sizes.input_dim as u32,
                    x_stride: vec4s(sizes.input_dim) as u32,
                    w_stride: linear.weight.shape.first().copied().unwrap_or(0) as u32,
                    w_col0: head * sizes.head_dim as u32,
                    outs: sizes.head_dim as u32,
                    y_stride: sizes.head_stride as u32 * 4,
                    has_bias: u32::from(linear.bias.is_some()),
                    first: 0,
                    start: NOTHING,
                    to: 0,
                };
                let out = self.of_head(name, head, sizes.head_bytes);
                self.linear(slice, params, timed, [Name::X, weight, bias], out);
            }
        }
    }

    /// Y = X Wᵀ + b with X, W and b from the store; the pipeline is prepared.
    pub(super) fn linear(
        &self,
        slice: &mut Slice,
        params: LinearParams,
        timed: Timed,
        [x, w, b]: [Name; 3],
        out: Arg<'_>,
    ) {
        let threads = u64::from((params.row_end - params.row0).div_ceil(8))
            * u64::from(params.outs.div_ceil(4));
        let args = [
            slice.params(&params),
            self.whole(x),
            self.whole(w),
            self.whole(b),
            out,
        ];
        self.launch(slice, (Kernel::Linear, threads, timed), &[&args]);
    }

    /// k' = k + P_K or v' = v + P_V of one head.
    pub(super) fn bias(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        part: Part,
        head: u32,
        timed: Timed,
    ) {
        let sizes = &shown.sizes;
        let (base, unit_name, out, bias) = match part {
            Part::V => (Name::V, Name::PV, Name::VBiased, &shown.frame.biases.p_v),
            Part::Q | Part::K => (Name::K, Name::PK, Name::KBiased, &shown.frame.biases.p_k),
        };
        let Some(bias) = bias else {
            return;
        };
        self.need(Kernel::Bias, Variant::default());
        let rows = bias.unit.shape.get(1).copied().unwrap_or(1);
        let unit_bytes = aligned(rows as u64 * sizes.head_stride as u64 * 16);
        if !self.store.is_head_uploaded(unit_name, head) {
            self.uploader()
                .unit_head(unit_name, &bias.unit, head, unit_bytes);
        }
        self.uploader().head_space(out, sizes);
        let count = (sizes.seq_len * sizes.head_stride) as u32;
        let params = BiasParams {
            count,
            period: (rows * sizes.head_stride) as u32,
            amplitude: bias.amplitude,
            pad: 0,
        };
        let args = [
            slice.params(&params),
            self.of_head(base, head, sizes.head_bytes),
            self.of_head(unit_name, head, unit_bytes),
            self.of_head(out, head, sizes.head_bytes),
        ];
        self.launch(slice, (Kernel::Bias, u64::from(count), timed), &[&args]);
    }
}
