//! Rust twins of the structs and numbers of the shaders. `tests/gpu_reflection.rs` compares every
//! offset, size and value here with the WGSL.

use bytemuck::{Pod, Zeroable};

/// `FLAG_CAUSAL` of `shared/params.wgsl`.
pub const FLAG_CAUSAL: u32 = 1;
/// `FLAG_LEFT_LIMITED`.
pub const FLAG_LEFT_LIMITED: u32 = 2;
/// `FLAG_RIGHT_LIMITED`.
pub const FLAG_RIGHT_LIMITED: u32 = 4;

/// `S_NONE`: no auxiliary bias.
pub const S_NONE: u32 = 0;
/// `S_CURVE`: s over the offset j − i.
pub const S_CURVE: u32 = 1;
/// `S_DENSE`: s as `[L, L]`.
pub const S_DENSE: u32 = 2;

/// `SEGMENTS_ONE`: one segment.
pub const SEGMENTS_ONE: u32 = 0;
/// `SEGMENTS_STORED`: several, each with its normaliser in the statistics.
pub const SEGMENTS_STORED: u32 = 1;
/// `SEGMENTS_RECOMPUTED`: so many that each is recomputed where it is used.
pub const SEGMENTS_RECOMPUTED: u32 = 2;

/// No sum is continued (`NOTHING` of `linear.wgsl`).
pub const NOTHING: u32 = u32::MAX;

/// Sizes and choices of one head: `HeadParams` of `shared/params.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct HeadParams {
    /// L.
    pub seq_len: u32,
    /// Numbers of a query row in the score: d_h, or the score rank.
    pub width: u32,
    /// vec4s from one row of queries or keys to the next.
    pub stride: u32,
    /// Factor of q·k'.
    pub scale: f32,
    /// `FLAG_*`.
    pub flags: u32,
    /// Reach to the left, within −L ..= L; only with its flag.
    pub left: i32,
    /// Reach to the right, within −L ..= L; only with its flag.
    pub right: i32,
    /// ≥ 1.
    pub dilation: i32,
    /// The first `prefix_keys` keys are visible to every row.
    pub prefix_keys: i32,
    /// The first `globals` rows see every key.
    pub globals: i32,
    /// Keys per segment, 1 ..= L.
    pub segment: u32,
    /// ⌈L / segment⌉.
    pub segments: u32,
    /// Entries of a row in the statistics.
    pub stat_stride: u32,
    /// First row of this launch.
    pub row0: u32,
    /// End of the rows of this launch (exclusive).
    pub row_end: u32,
    /// Number of keys without the padding.
    pub key_end: u32,
}

/// The rectangle that is drawn: `MapParams` of `shared/texels.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct MapParams {
    /// First query.
    pub row: u32,
    /// First key.
    pub col: u32,
    /// Number of queries.
    pub rows: u32,
    /// Number of keys.
    pub cols: u32,
    /// Texels down.
    pub texel_rows: u32,
    /// Texels across.
    pub texel_cols: u32,
    /// First texel row of this launch.
    pub first: u32,
    /// End of the texel rows of this launch (exclusive).
    pub end: u32,
    /// [`attnscope_engine::Pool`].
    pub pool: u32,
    /// Pads to 16 bytes.
    pub pad: [u32; 3],
}

/// `OutputParams` of `output.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct OutputParams {
    /// d_h.
    pub head_dim: u32,
    /// vec4s from one row of values to the next.
    pub value_stride: u32,
    /// Numbers from one row of O to the next.
    pub out_stride: u32,
    /// Column of O where the head starts.
    pub out_col: u32,
}

/// `LinearParams` of `linear.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct LinearParams {
    /// First row of this launch.
    pub row0: u32,
    /// End of the rows of this launch (exclusive).
    pub row_end: u32,
    /// Numbers of a row of X that are used.
    pub inner: u32,
    /// vec4s from one row of X to the next.
    pub x_stride: u32,
    /// Numbers from one row of Wᵀ to the next.
    pub w_stride: u32,
    /// First column of Wᵀ that is used.
    pub w_col0: u32,
    /// Columns of Wᵀ that are used.
    pub outs: u32,
    /// Numbers from one row of Y to the next.
    pub y_stride: u32,
    /// 1 when b is added.
    pub has_bias: u32,
    /// First vec4 of a row of X that is used.
    pub first: u32,
    /// Where in Y the continued sum starts, or [`NOTHING`].
    pub start: u32,
    /// Where in Y the result starts.
    pub to: u32,
}

/// `BiasParams` of `bias.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct BiasParams {
    /// vec4s of the head's L rows.
    pub count: u32,
    /// vec4s of P: one row (shared) or `count` (per position).
    pub period: u32,
    /// Factor of P.
    pub amplitude: f32,
    /// vec4s of one row.
    pub stride: u32,
}

/// `MatrixParams` of `matrix.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct MatrixParams {
    /// Numbers from one row of the matrix to the next.
    pub stride: u32,
    /// First texel that is written.
    pub offset: u32,
    /// 1 when these values widen the range.
    pub widens: u32,
    /// Pads to 16 bytes.
    pub pad: u32,
}

/// `EnergyParams` of `energy.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct EnergyParams {
    /// Rows of the matrix.
    pub rows: u32,
    /// Columns of the matrix.
    pub cols: u32,
    /// Numbers from one row to the next.
    pub stride: u32,
    /// First entry that is written.
    pub offset: u32,
}

/// `HeatmapParams` of `heatmap.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct HeatmapParams {
    /// Upper left corner of the viewport in target pixels.
    pub origin: [f32; 2],
    /// Size of the viewport in target pixels.
    pub size: [f32; 2],
    /// Texels down.
    pub texel_rows: u32,
    /// Texels across.
    pub texel_cols: u32,
    /// First texel.
    pub offset: u32,
    /// First entry of the colour table.
    pub table: u32,
    /// Values of the first and the last colour, if `range_given` is 1.
    pub range: [f32; 2],
    /// 1 when `range` is set, 0 when the range comes from the picture.
    pub range_given: u32,
    /// 1: the middle colour is 0, and an automatic range is symmetric about it; 0: it starts at 0.
    pub symmetric: u32,
}
