// Weights from scores and the statistics of `stats` (SPEC 3). Declares group 1 binding 0.
//!import shared/head

// Per row: (1/G, visible keys, shared score), then per stored segment (maximum of z, 1 / (G · sum),
// largest s).
@group(1) @binding(0) var<storage, read> stats: array<vec4<f32>>;

// Whether row i is fully masked.
fn blind(i: u32) -> bool {
    return stats[i * head.stat_stride].y == 0.0;
}

// Which of the keys j0 .. j0+3 below `end` have a weight in row i: the visible ones, or all keys in
// a fully masked row that gets the mean.
fn weighed(i: u32, span: RowSpan, j0: u32, end: u32) -> vec4<bool> {
    var seen = visible(i, span, j0, end);
    if (FULLY_MASKED == EMPTY_MEAN) {
        let j = vec4<u32>(j0) + vec4<u32>(0u, 1u, 2u, 3u);
        seen = seen | (vec4<bool>(blind(i)) & (j < vec4<u32>(min(end, head.seq_len))));
    }
    return seen;
}

// r of row i from scores without the shared score.
fn whole_scores(i: u32, r: vec4<f32>) -> vec4<f32> {
    return r + stats[i * head.stat_stride].z;
}

// Per key: maximum of z, 1 / (G · sum) and largest s of its segment.
struct Norm4 {
    top: vec4<f32>,
    factor: vec4<f32>,
    bias: vec4<f32>,
}

// Maximum, normaliser and largest s of segment g of row i: read from `stats`, or recomputed when
// there are too many segments to store (each is short then).
fn segment_norm(i: u32, span: RowSpan, g: u32) -> vec3<f32> {
    let row = i * head.stat_stride;
    if (SEGMENTS == SEGMENTS_STORED) {
        return stats[row + 1u + g].xyz;
    }
    let end = min((g + 1u) * head.segment, head.seq_len);
    let bias = largest_bias(i, span, g * head.segment, end);
    var state = vec2<f32>(LOWEST, 0.0);
    for (var j = g * head.segment; j < end; j += 4u) {
        let seen = visible(i, span, j, end);
        let count = select(0u, vec4_count(), any(seen) && READING != READING_PRODUCT);
        state = absorb(state, exponents(i, j, row_scores(i, j, count), vec4<f32>(bias)), seen);
    }
    if (state.y > 0.0) {
        return vec3<f32>(state.x, stats[row].x / state.y, bias);
    }
    return vec3<f32>(0.0);
}

// Normalisers of keys j0 .. j0+3 of row i.
fn norms(i: u32, span: RowSpan, j0: u32) -> Norm4 {
    if (SEGMENTS == SEGMENTS_ONE) {
        let n = stats[i * head.stat_stride + 1u];
        return Norm4(vec4<f32>(n.x), vec4<f32>(n.y), vec4<f32>(n.z));
    }
    let g = four(j0) / head.segment;
    let a = segment_norm(i, span, g.x);
    var out = Norm4(vec4<f32>(a.x), vec4<f32>(a.y), vec4<f32>(a.z));
    if (g.w == g.x) {
        return out;
    }
    var b = a;
    if (g.y != g.x) { b = segment_norm(i, span, g.y); }
    var c = b;
    if (g.z != g.y) { c = segment_norm(i, span, g.z); }
    var d = c;
    if (g.w != g.z) { d = segment_norm(i, span, g.w); }
    return Norm4(vec4<f32>(a.x, b.x, c.x, d.x), vec4<f32>(a.y, b.y, c.y, d.y), vec4<f32>(a.z, b.z, c.z, d.z));
}

// A of row i and keys j0 .. j0+3 from their scores; exactly 0 where a key is not `weighed`.
fn weights(i: u32, span: RowSpan, j0: u32, r: vec4<f32>, seen: vec4<bool>) -> vec4<f32> {
    let n = norms(i, span, j0);
    // Where nothing is visible z − top may be large; the exponential of such cells is never used.
    let e = exp(select(vec4<f32>(LOWEST), exponents(i, j0, r, n.bias) - n.top, seen)) * n.factor;
    var a = e;
    if (READING == READING_PRODUCT) {
        a = e * whole_scores(i, r);
    }
    if (FULLY_MASKED == EMPTY_MEAN) {
        a = select(a, vec4<f32>(1.0 / f32(head.seq_len)), vec4<bool>(blind(i)));
    }
    return select(vec4<f32>(0.0), a, seen);
}
