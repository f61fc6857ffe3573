// One head: its rows, its score, its visibility. Declares group 0 and functions over it.
//!import shared/params
//!import shared/visibility
//!import shared/numeric

@group(0) @binding(0) var<uniform> head: HeadParams;
// q and k', rows of `head.stride` vec4s.
@group(0) @binding(1) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<f32>>;
// s: a curve over j − i + L − 1, or [L, L]; one dummy entry when there is none.
@group(0) @binding(3) var<storage, read> score_bias: array<f32>;
// One bit per cell, rows of ⌈L / 32⌉ words; one dummy entry when there is none.
@group(0) @binding(4) var<storage, read> mask: array<u32>;

// Which of four rows or keys from `at` on exist; the others are read at the last one.
fn four(at: u32) -> vec4<u32> {
    return min(vec4<u32>(at) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(head.seq_len - 1u));
}

// Components of vec4 number `c` that take part.
fn taken(c: u32) -> vec4<f32> {
    let at = vec4<u32>(4u * c) + vec4<u32>(0u, 1u, 2u, 3u);
    return select(vec4<f32>(0.0), vec4<f32>(1.0), at < vec4<u32>(head.width));
}

// r of rows i0 .. i0+3 (columns of the result) and keys j0 .. j0+3 (entries of a column).
fn scores(i0: u32, j0: u32) -> mat4x4<f32> {
    let qi = four(i0) * head.stride;
    let kj = four(j0) * head.stride;
    let whole = head.width / 4u;
    var acc = mat4x4<f32>();
    for (var c = 0u; c < whole; c++) {
        let q = mat4x4<f32>(queries[qi.x + c], queries[qi.y + c], queries[qi.z + c], queries[qi.w + c]);
        let k = mat4x4<f32>(keys[kj.x + c], keys[kj.y + c], keys[kj.z + c], keys[kj.w + c]);
        acc += transpose(k) * q;
    }
    if (whole * 4u < head.width) {
        let m = taken(whole);
        let q = mat4x4<f32>(m * queries[qi.x + whole], m * queries[qi.y + whole], m * queries[qi.z + whole], m * queries[qi.w + whole]);
        let k = mat4x4<f32>(keys[kj.x + whole], keys[kj.y + whole], keys[kj.z + whole], keys[kj.w + whole]);
        acc += transpose(k) * q;
    }
    return head.scale * acc;
}

// r of one row and keys j0 .. j0+3.
fn row_scores(i: u32, j0: u32) -> vec4<f32> {
    let kj = four(j0) * head.stride;
    let count = (head.width + 3u) / 4u;
    var acc = vec4<f32>(0.0);
    for (var c = 0u; c < count; c++) {
        let q = taken(c) * queries[i * head.stride + c];
        acc += q * mat4x4<f32>(keys[kj.x + c], keys[kj.y + c], keys[kj.z + c], keys[kj.w + c]);
    }
    return head.scale * acc;
}

// s of row i and keys j0 .. j0+3.
fn biases(i: u32, j0: u32) -> vec4<f32> {
    if (head.s_kind == S_NONE) {
        return vec4<f32>(0.0);
    }
    var base = head.seq_len - 1u - i;
    if (head.s_kind == S_DENSE) {
        base = i * head.seq_len;
    }
    let at = vec4<u32>(base) + four(j0);
    return vec4<f32>(score_bias[at.x], score_bias[at.y], score_bias[at.z], score_bias[at.w]);
}

// The z whose exponential is normalised: r, r + s, or s.
fn exponents(i: u32, j0: u32, r: vec4<f32>) -> vec4<f32> {
    if (head.reading == READING_SOFTMAX) {
        return r;
    }
    if (head.reading == READING_BIAS) {
        return r + biases(i, j0);
    }
    return biases(i, j0);
}

fn mask_bit(i: u32, j: u32) -> bool {
    let words = (head.seq_len + 31u) / 32u;
    return ((mask[i * words + j / 32u] >> (j % 32u)) & 1u) != 0u;
}

// Which of the keys j0 .. j0+3 below `end` row i sees. Rows behind the last see none.
fn visible(i: u32, span: RowSpan, j0: u32, end: u32) -> vec4<bool> {
    let j = vec4<u32>(j0) + vec4<u32>(0u, 1u, 2u, 3u);
    let stop = select(0u, min(end, head.seq_len), i < head.seq_len);
    var seen = span_sees(span, i32(i), vec4<i32>(j), head.dilation) & (j < vec4<u32>(stop));
    if ((head.flags & FLAG_MASK) != 0u && any(seen)) {
        let c = four(j0);
        let row = min(i, head.seq_len - 1u);
        seen = seen & vec4<bool>(mask_bit(row, c.x), mask_bit(row, c.y), mask_bit(row, c.z), mask_bit(row, c.w));
    }
    return seen;
}
