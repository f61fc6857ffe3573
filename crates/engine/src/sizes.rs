//! Every size that a device could refuse, in one pure module: buffers, dispatches, statistics.

use attnscope_attention::config::Config;
use attnscope_attention::layer::{Input, Layer};
use attnscope_attention::visibility::Visibility;

use super::EngineError;

/// Segments per row whose normalisers are stored; with more, each segment is short and recomputed.
pub const MAX_STORED_SEGMENTS: usize = 64;

/// All heads' statistics are cached up to this many bytes; beyond it, one head's at a time.
const MAX_STATS_BYTES: u64 = 64 << 20;

/// Bytes of one entry of the row statistics.
const STAT_BYTES: u64 = 16;

/// Bound ranges of a buffer start at multiples of this (`minStorageBufferOffsetAlignment`).
pub const ALIGN: u64 = 256;

/// What the device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Bytes of one buffer.
    pub buffer: u64,
    /// Bytes of one bound range.
    pub binding: u64,
    /// Workgroups of one dispatch.
    pub workgroups: u64,
}

impl Default for Allowed {
    /// The limits that every WebGPU device has.
    fn default() -> Self {
        Self {
            buffer: 256 << 20,
            binding: 128 << 20,
            workgroups: 65_535,
        }
    }
}

/// `n` rounded up to whole vec4s, in vec4s.
pub fn vec4s(n: usize) -> usize {
    n.div_ceil(4)
}

/// Bytes of `rows` rows of `row` numbers, each padded to whole vec4s, up to where the next head may
/// start.
pub fn row_bytes(rows: usize, row: usize) -> u64 {
    aligned(rows as u64 * vec4s(row) as u64 * 16)
}

/// `bytes` rounded up to [`ALIGN`].
pub fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGN)
}

/// The size of a buffer of the store for `bytes`: never zero, and whole vec4s.
pub fn stored(bytes: u64) -> u64 {
    bytes.max(16).next_multiple_of(16)
}

/// Sizes of one layer on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaddedSizes {
    /// L.
    pub seq_len: usize,
    /// H.
    pub heads: usize,
    /// d_h.
    pub head_dim: usize,
    /// vec4s of one row of a head.
    pub head_stride: usize,
    /// Bytes from one head to the next in q, k, v, k' and v': L rows, and in k after them the row
    /// that the keys have in common (see [`super::centring`]).
    pub head_bytes: u64,
    /// Numbers of one row of X (d, also for a preview with one head); d_h·H without X.
    pub input_dim: usize,
    /// vec4s of one row of O and Y.
    pub model_stride: usize,
}

impl PaddedSizes {
    /// The sizes of `layer`, if the device allows them.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] when a buffer or a bound range would be beyond the limits.
    pub fn new(layer: &Layer, allowed: Allowed) -> Result<Self, EngineError> {
        let head_stride = vec4s(layer.head_dim);
        let model_stride = vec4s(layer.model_dim());
        let head_bytes = row_bytes(layer.seq_len + 1, layer.head_dim);
        let input_dim = match &layer.input {
            Input::Hidden { x, .. } => x.shape.get(1).copied().unwrap_or(0),
            Input::Heads { .. } => layer.model_dim(),
        };
        let sizes = Self {
            input_dim,
            seq_len: layer.seq_len,
            heads: layer.heads,
            head_dim: layer.head_dim,
            head_stride,
            head_bytes,
            model_stride,
        };
        let words = (layer.seq_len as u64).div_ceil(32);
        let mask = if layer.mask.is_some() {
            layer.seq_len as u64 * words * 4
        } else {
            0
        };
        let model_bytes = layer.seq_len as u64 * model_stride as u64 * 16;
        fits(head_bytes * layer.heads as u64, allowed.buffer)?;
        fits(head_bytes, allowed.binding)?;
        fits(model_bytes, allowed.binding)?;
        fits(
            layer.seq_len as u64 * vec4s(input_dim) as u64 * 16,
            allowed.binding,
        )?;
        fits(mask, allowed.binding)?;
        Ok(sizes)
    }
}

/// Checks that `bytes` fit; returns the size in elements of four bytes.
///
/// # Errors
/// [`EngineError::TooLarge`] when they do not.
pub fn fits(bytes: u64, allowed: u64) -> Result<(), EngineError> {
    if bytes <= allowed {
        Ok(())
    } else {
        Err(EngineError::TooLarge {
            wanted: bytes / 4,
            allowed: allowed / 4,
        })
    }
}

/// The longest L of a model of width `d` in `heads` heads that the device allows without a mask.
pub fn max_seq_len(d: usize, heads: usize, allowed: Allowed) -> u32 {
    let head = vec4s(d / heads.max(1)) as u64 * 16;
    let per_head = allowed.buffer / heads.max(1) as u64 / ALIGN * ALIGN;
    let by_buffer = (per_head / head.max(16)).saturating_sub(1);
    let by_binding = allowed.binding / (vec4s(d) as u64 * 16).max(16);
    by_buffer.min(by_binding).min(u64::from(u32::MAX)) as u32
}

/// How the row statistics of a layer are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatSizes {
    /// Keys per segment.
    pub segment: usize,
    /// ⌈L / segment⌉.
    pub segments: usize,
    /// Entries of a row: its own, and one per stored segment.
    pub stride: usize,
    /// Bytes from one head to the next.
    pub head_bytes: u64,
    /// Heads whose statistics are cached at a time.
    pub slots: usize,
}

impl StatSizes {
    /// How the statistics of `heads` heads of `seq_len` rows are stored under `config`.
    pub fn new(seq_len: usize, heads: usize, config: &Config) -> Self {
        let segment = config.segment_len(seq_len);
        let segments = seq_len.div_ceil(segment).max(1);
        let stride = if segments <= MAX_STORED_SEGMENTS {
            1 + segments
        } else {
            1
        };
        let head_bytes = aligned(seq_len as u64 * stride as u64 * STAT_BYTES);
        let slots = if head_bytes * heads as u64 <= MAX_STATS_BYTES {
            heads
        } else {
            1
        };
        Self {
            segment,
            segments,
            stride,
            head_bytes,
            slots,
        }
    }
}

/// Workgroups across and down for `threads` threads: one row of them, or several where one would be
/// too long. Kernels number their threads `x + y · width` and ignore the surplus.
pub fn grid(threads: u64, workgroup: u32, allowed: u64) -> (u32, u32) {
    let count = threads.div_ceil(u64::from(workgroup.max(1))).max(1);
    let down = count.div_ceil(allowed.max(1));
    (count.div_ceil(down) as u32, down as u32)
}

/// Maximum number of keys that a row reads under `visibility`.
pub fn keys_per_row(seq_len: usize, visibility: &Visibility) -> usize {
    let side = |reach: Option<i32>| reach.map_or(seq_len as i64, i64::from);
    let near = (side(visibility.left) + side(visibility.right) + 1).clamp(0, seq_len as i64);
    let kept = visibility.sinks.max(visibility.globals) as usize;
    (near as usize + kept).min(seq_len)
}

/// Texels per edge of a small map of `seq_len` tokens that is shown at `wanted` of them. Kernels
/// compute blocks of 4 × 4 cells for the price of one, so a texel is one cell or whole blocks; the
/// drawing takes the largest by magnitude of the texels of a pixel.
pub fn strip_texels(seq_len: usize, wanted: u32) -> u32 {
    let cells = if seq_len <= 256 {
        1
    } else {
        (seq_len / (wanted.max(1) as usize * 4)).max(1) * 4
    };
    seq_len.div_ceil(cells).max(1) as u32
}

/// Partial sums of the low-rank Y, cached so that a changed rank adds only a few components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialSums {
    /// Components between two sums, a multiple of four.
    pub step: u32,
    /// Number of sums.
    pub count: u32,
}

impl PartialSums {
    /// How many of them lie at or below `rank`.
    pub fn before(self, rank: u32) -> u32 {
        (rank / self.step).min(self.count)
    }
}

/// The partial sums of a layer with `components` components: none where memory would not be O(L·d).
pub fn partial_sums(sizes: &PaddedSizes, components: u32) -> PartialSums {
    const STEP: u32 = 32;
    const MAX_BYTES: u64 = 64 << 20;
    let bytes = sizes.seq_len as u64 * sizes.model_stride as u64 * 16;
    let fitting = (MAX_BYTES / bytes.max(1)).saturating_sub(1);
    let step = std::iter::successors(Some(STEP), |step| Some(step * 2))
        .find(|step| u64::from(components / step) <= fitting)
        .unwrap_or(STEP);
    PartialSums {
        step,
        count: components / step,
    }
}

/// Cuts `rows` rows that cost `per_row` multiply-adds each into blocks of at most `budget`,
/// whole groups of `granule` rows.
pub fn blocks(rows: usize, per_row: u64, budget: u64, granule: usize) -> Vec<(u32, u32)> {
    let fitting = (budget / per_row.max(1)) as usize / granule * granule;
    let step = fitting.max(granule);
    (0..rows)
        .step_by(step)
        .map(|at| (at as u32, (at + step).min(rows) as u32))
        .collect()
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
