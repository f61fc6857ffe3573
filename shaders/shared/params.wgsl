// Sizes and choices of one head (SPEC 1–3). Rust twin: `gpu_data::HeadParams`.

// Choices that every thread shares and that change rarely are constants of the pipeline: software
// adapters execute both sides of every branch, and only the compiler can remove one.

// How a weight is computed (SPEC 3).
const READING_SOFTMAX: u32 = 0u;
const READING_BIAS: u32 = 1u;
const READING_PRODUCT: u32 = 2u;
override READING: u32 = READING_SOFTMAX;

// Bits of HeadParams.flags.
const FLAG_CAUSAL: u32 = 1u;
const FLAG_LEFT_LIMITED: u32 = 2u;
const FLAG_RIGHT_LIMITED: u32 = 4u;

// Where s comes from.
const S_NONE: u32 = 0u;
const S_CURVE: u32 = 1u;
const S_DENSE: u32 = 2u;
override S_KIND: u32 = S_NONE;

// One segment; several with their normalisers in `stats`; or too many, each recomputed.
const SEGMENTS_ONE: u32 = 0u;
const SEGMENTS_STORED: u32 = 1u;
const SEGMENTS_RECOMPUTED: u32 = 2u;
override SEGMENTS: u32 = SEGMENTS_ONE;

// What a fully masked row gets: nothing, or the mean of all values.
const EMPTY_ZERO: u32 = 0u;
const EMPTY_MEAN: u32 = 1u;
override FULLY_MASKED: u32 = EMPTY_ZERO;

// Whether there is a boolean mask, a dilation above 1, and a width that is not whole vec4s.
override MASKED: bool = false;
override DILATED: bool = false;
override RAGGED_WIDTH: bool = false;

struct HeadParams {
    // L.
    seq_len: u32,
    // Numbers of a query row in the score: d_h, or the score rank.
    width: u32,
    // vec4s from one row of queries or keys to the next; rows are padded with zeros.
    stride: u32,
    // Factor of q·k'.
    scale: f32,
    flags: u32,
    // Reach to both sides; only with its flag. Within −L ..= L.
    left: i32,
    right: i32,
    // ≥ 1.
    dilation: i32,
    // The first `prefix_keys` keys are visible to every row: max(sinks, globals).
    prefix_keys: i32,
    // The first `globals` rows see every key.
    globals: i32,
    // Keys per segment, 1 ..= L.
    segment: u32,
    // ⌈L / segment⌉.
    segments: u32,
    // Entries of a row in `stats`: 1 + segments, or 1 when segments are not stored.
    stat_stride: u32,
    // Rows of this launch: row0 ..< row_end.
    row0: u32,
    row_end: u32,
    // Number of keys without the padding.
    key_end: u32,
}
