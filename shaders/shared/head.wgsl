// One head: its rows, its score, its visibility. Declares group 0 and functions over it.
//!import shared/params
//!import shared/visibility
//!import shared/numeric

@group(0) @binding(0) var<uniform> head: HeadParams;
// q and k', rows of `head.stride` vec4s. The common row was subtracted from the keys and follows
// the last key (SPEC 7): scores are differences, and their common part does not round any of them.
@group(0) @binding(1) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<f32>>;
// s: a curve over j − i + L − 1, or [L, L]; one dummy entry when there is none.
@group(0) @binding(3) var<storage, read> score_bias: array<f32>;
// One bit per cell, rows of ⌈L / 32⌉ words; one dummy entry when there is none.
@group(0) @binding(4) var<storage, read> mask: array<u32>;

// Which of four rows or keys from `at` on exist; reads past the end repeat the last one.
fn four(at: u32) -> vec4<u32> {
    return min(vec4<u32>(at) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(head.seq_len - 1u));
}

// Components of vec4 number `c` that are used.
fn taken(c: u32) -> vec4<f32> {
    let at = vec4<u32>(4u * c) + vec4<u32>(0u, 1u, 2u, 3u);
    return select(vec4<f32>(0.0), vec4<f32>(1.0), at < vec4<u32>(head.width));
}

// vec4s of a row that are used.
fn vec4_count() -> u32 {
    return (head.width + 3u) / 4u;
}

// r without the row's shared score, of rows i0 .. i0+3 (columns of the result) and keys j0 .. j0+3
// (entries of a column), over `count` vec4s: `vec4_count()`, or 0 where nothing is visible. On
// adapters that execute both sides of every branch, only a loop can be skipped.
fn scores(i0: u32, j0: u32, count: u32) -> mat4x4<f32> {
    let qi = four(i0) * head.stride;
    let kj = four(j0) * head.stride;
    var acc = mat4x4<f32>();
    for (var c = 0u; c < count; c++) {
        var q = mat4x4<f32>(queries[qi.x + c], queries[qi.y + c], queries[qi.z + c], queries[qi.w + c]);
        let k = mat4x4<f32>(keys[kj.x + c], keys[kj.y + c], keys[kj.z + c], keys[kj.w + c]);
        if (RAGGED_WIDTH) {
            let m = taken(c);
            q = mat4x4<f32>(m * q[0], m * q[1], m * q[2], m * q[3]);
        }
        acc += transpose(k) * q;
    }
    return head.scale * acc;
}

// r without the row's shared score, of one row and keys j0 .. j0+3.
fn row_scores(i: u32, j0: u32, count: u32) -> vec4<f32> {
    let kj = four(j0) * head.stride;
    var acc = vec4<f32>(0.0);
    for (var c = 0u; c < count; c++) {
        let q = taken(c) * queries[i * head.stride + c];
        acc += q * mat4x4<f32>(keys[kj.x + c], keys[kj.y + c], keys[kj.z + c], keys[kj.w + c]);
    }
    return head.scale * acc;
}

// What all scores of row i share: scale · q_i · c, with c the row after the last key.
fn shared_score(i: u32) -> f32 {
    let behind = head.seq_len * head.stride;
    var acc = vec4<f32>(0.0);
    for (var c = 0u; c < vec4_count(); c++) {
        acc += taken(c) * queries[i * head.stride + c] * keys[behind + c];
    }
    return head.scale * sum4(acc);
}

// s of row i and keys j0 .. j0+3.
fn biases(i: u32, j0: u32) -> vec4<f32> {
    if (S_KIND == S_NONE) {
        return vec4<f32>(0.0);
    }
    var base = head.seq_len - 1u - i;
    if (S_KIND == S_DENSE) {
        base = i * head.seq_len;
    }
    let at = vec4<u32>(base) + four(j0);
    return vec4<f32>(score_bias[at.x], score_bias[at.y], score_bias[at.z], score_bias[at.w]);
}

// The z whose exponential is normalised: r, r + s, or s, up to a number that is the same for all
// keys of a segment. `top` is the largest visible s of each key's segment: it is subtracted before
// r is added, so that a large s that keys share leaves r its digits. Visible keys have no larger s;
// the minimum keeps a compiler from adding r first.
fn exponents(i: u32, j0: u32, r: vec4<f32>, top: vec4<f32>) -> vec4<f32> {
    if (READING == READING_SOFTMAX) {
        return r;
    }
    if (READING == READING_BIAS) {
        return r + min(biases(i, j0) - top, vec4<f32>(0.0));
    }
    return biases(i, j0);
}

// The largest s of row i among its visible keys from ..< end; 0 where there is none, or where s is
// not added to r.
fn largest_bias(i: u32, span: RowSpan, start: u32, end: u32) -> f32 {
    var top = LOWEST;
    if (READING == READING_BIAS && S_KIND != S_NONE) {
        let row = min(i, head.seq_len - 1u);
        let prefix = u32(max(span.prefix, 0));
        let lo = u32(max(span.lo, 0));
        let stop = min(u32(max(max(span.prefix, span.hi + 1), 0)), end);
        var j = start;
        loop {
            if (j >= prefix && j < lo) {
                j = lo; // Here too nothing is visible in between.
            }
            if (j >= stop) {
                break;
            }
            let seen = visible(i, span, j, stop);
            top = max(top, max4(select(vec4<f32>(LOWEST), biases(row, j), seen)));
            j += 4u;
        }
    }
    return select(0.0, top, top > LOWEST);
}

fn mask_bit(i: u32, j: u32) -> bool {
    let words = (head.seq_len + 31u) / 32u;
    return ((mask[i * words + j / 32u] >> (j % 32u)) & 1u) != 0u;
}

// Which of the keys j0 .. j0+3 below `end` row i sees. Rows past the end see no key.
fn visible(i: u32, span: RowSpan, j0: u32, end: u32) -> vec4<bool> {
    let j = vec4<u32>(j0) + vec4<u32>(0u, 1u, 2u, 3u);
    let stop = select(0u, min(end, head.seq_len), i < head.seq_len);
    var seen = span_sees(span, i32(i), vec4<i32>(j), head.dilation) & (j < vec4<u32>(stop));
    if (MASKED) {
        let c = four(j0);
        let row = min(i, head.seq_len - 1u);
        seen = seen & vec4<bool>(mask_bit(row, c.x), mask_bit(row, c.y), mask_bit(row, c.z), mask_bit(row, c.w));
    }
    return seen;
}
