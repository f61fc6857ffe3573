// Sizes and choices of one head (SPEC 1–3). Rust twin: `gpu_data::HeadParams`.

// Values of HeadParams.reading.
const READING_SOFTMAX: u32 = 0u;
const READING_BIAS: u32 = 1u;
const READING_PRODUCT: u32 = 2u;

// Bits of HeadParams.flags.
const FLAG_CAUSAL: u32 = 1u;
const FLAG_LEFT_LIMITED: u32 = 2u;
const FLAG_RIGHT_LIMITED: u32 = 4u;
const FLAG_MASK: u32 = 8u;

// Values of HeadParams.s_kind.
const S_NONE: u32 = 0u;
const S_CURVE: u32 = 1u;
const S_DENSE: u32 = 2u;

struct HeadParams {
    // L.
    seq_len: u32,
    // Numbers of a query row that take part in the score: d_h, or the score rank.
    width: u32,
    // vec4s from one row of queries or keys to the next; rows are padded with zeros.
    stride: u32,
    // Factor of q·k'.
    scale: f32,
    reading: u32,
    flags: u32,
    // Reach to both sides; only with its flag. Within −L ..= L.
    left: i32,
    right: i32,
    // ≥ 1.
    dilation: i32,
    // The first so many keys are visible to every row: max(sinks, globals).
    kept: i32,
    // The first so many rows see every key.
    globals: i32,
    // Keys per segment, 1 ..= L.
    segment: u32,
    // ⌈L / segment⌉.
    segments: u32,
    // Entries of a row in `stats`: 1 + segments, or 1 when segments are not stored.
    stat_stride: u32,
    s_kind: u32,
    // Rows of this launch: row0 ..< row_end.
    row0: u32,
    row_end: u32,
    _pad0: u32,
    _pad1: u32,
    _pad2: u32,
}
