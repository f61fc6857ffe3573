//! q, k and v of one head, and k' and v', as launches.

use attnscope_attention::layer::Input;
use attnscope_engine::centring::{centred_rows, common_output, common_row};
use attnscope_engine::jobs::{Part, Rows};
use attnscope_engine::sizes::{row_bytes, vec4s};

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{BiasParams, LinearParams, NOTHING};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::upload::{Source, source};
use super::variant::Variant;
use attnscope_engine::needs::Name;

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
            Source::Given(mut numbers) => {
                if rows.0 == 0 {
                    if part == Part::K {
                        let common = common_row(&numbers, sizes.head_dim);
                        numbers = centred_rows(&numbers, &common);
                        numbers.extend(common);
                    }
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
                let Input::Hidden { x, .. } = &layer.input else {
                    return;
                };
                let outs = linear.weight.shape.first().copied().unwrap_or(0);
                if !self.store.is_uploaded(Name::X) {
                    let common = common_row(&x.data, sizes.input_dim);
                    let centred = centred_rows(&x.data, &common);
                    self.uploader().matrix(Name::X, &centred, sizes.input_dim);
                }
                if !self.store.is_uploaded(weight) {
                    let common = common_row(&x.data, sizes.input_dim);
                    let moved = common_output(linear, &common, 0..outs);
                    self.uploader().weight(weight, &linear.weight);
                    self.uploader().numbers(bias, &moved);
                }
                if part == Part::K && rows.0 == 0 {
                    let common = common_row(&x.data, sizes.input_dim);
                    let first = head as usize * sizes.head_dim;
                    let shared = common_output(linear, &common, first..first + sizes.head_dim);
                    self.uploader().common_row(name, &shared, head, sizes);
                }
                let params = LinearParams {
                    row0: rows.0,
                    row_end: rows.1,
                    inner: sizes.input_dim as u32,
                    x_stride: vec4s(sizes.input_dim) as u32,
                    w_stride: outs as u32,
                    w_col0: head * sizes.head_dim as u32,
                    outs: sizes.head_dim as u32,
                    y_stride: sizes.head_stride as u32 * 4,
                    // What the bias adds to keys is the same for all of them: it is in the row
                    // behind the last key.
                    has_bias: u32::from(part != Part::K),
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
        let unit_bytes = row_bytes(rows + 1, sizes.head_dim);
        if !self.store.is_head_uploaded(unit_name, head) {
            let of_keys = part != Part::V;
            self.uploader()
                .unit_head(unit_name, &bias.unit, head, unit_bytes, of_keys);
        }
        self.uploader().head_space(out, sizes);
        let count = (sizes.seq_len * sizes.head_stride) as u32;
        let params = BiasParams {
            count,
            period: (rows * sizes.head_stride) as u32,
            amplitude: bias.amplitude,
            stride: sizes.head_stride as u32,
        };
        let args = [
            slice.params(&params),
            self.of_head(base, head, sizes.head_bytes),
            self.of_head(unit_name, head, unit_bytes),
            self.of_head(out, head, sizes.head_bytes),
        ];
        let threads = u64::from(count + params.stride);
        self.launch(slice, (Kernel::Bias, threads, timed), &[&args]);
    }
}
