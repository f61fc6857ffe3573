//! Which components of the low-rank output one launch adds, and to what.

use attnscope_engine::jobs::{components, low_rank};
use attnscope_engine::sizes::{Sizes, partial_sums};

use super::engine::Shown;
use super::gpu_data::NOTHING;

/// Components `first..end` (`first` a multiple of four) added to what is at `start`.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) first: u32,
    pub(super) end: u32,
    /// Where the sum of the components before starts, or [`NOTHING`].
    pub(super) start: u32,
    /// Where the result starts.
    pub(super) to: u32,
    /// Whether the bias is added.
    pub(super) finished: bool,
}

/// Where partial sum `part` starts, behind the low-rank Y itself; [`NOTHING`] before the first.
pub(super) fn partial_start(shown: &Shown, part: Option<u32>) -> u32 {
    let whole = (model_bytes(&shown.sizes) / 4) as u32;
    part.map_or(NOTHING, |part| (1 + part) * whole)
}

/// The sum of the components up to the end of `part`.
pub(super) fn partial(shown: &Shown, part: u32) -> Sum {
    let step = partial_sums(&shown.sizes, components(&shown.frame)).step;
    Sum {
        first: part * step,
        end: (part + 1) * step,
        start: partial_start(shown, part.checked_sub(1)),
        to: partial_start(shown, Some(part)),
        finished: false,
    }
}

/// Y of the low rank, from the last partial sum below it.
pub(super) fn low_rank_sum(shown: &Shown) -> Sum {
    let all = components(&shown.frame);
    let end = low_rank(&shown.frame).unwrap_or(all).min(all);
    let before = partial_sums(&shown.sizes, all).before(end);
    Sum {
        first: before * partial_sums(&shown.sizes, all).step,
        end,
        start: partial_start(shown, before.checked_sub(1)),
        to: 0,
        finished: true,
    }
}

/// d.
pub(super) fn model_dim(sizes: &Sizes) -> u32 {
    (sizes.heads * sizes.head_dim) as u32
}

/// Bytes of a matrix `[L, d]`.
pub(super) fn model_bytes(sizes: &Sizes) -> u64 {
    sizes.seq_len as u64 * sizes.model_stride as u64 * 16
}
