// Weights from scores and the statistics that `stats` left (SPEC 3). Declares group 1 binding 0.
//!import shared/head

// Per row: (1/G, visible keys), then per stored segment (maximum, 1 / (G · sum)).
@group(1) @binding(0) var<storage, read> stats: array<vec2<f32>>;

struct Norm4 {
    top: vec4<f32>,
    factor: vec4<f32>,
}

// Maximum and normaliser of segment g of row i: looked up, or recomputed when there are too many
// segments to keep (each is short then).
fn segment_norm(i: u32, span: RowSpan, g: u32) -> vec2<f32> {
    let row = i * head.stat_stride;
    if (head.stat_stride > head.segments) {
        return stats[row + 1u + g];
    }
    let end = min((g + 1u) * head.segment, head.seq_len);
    var state = vec2<f32>(LOWEST, 0.0);
    for (var j = g * head.segment; j < end; j += 4u) {
        let seen = visible(i, span, j, end);
        if (any(seen)) {
            state = absorb(state, exponents(i, j, row_scores(i, j)), seen);
        }
    }
    if (state.y > 0.0) {
        return vec2<f32>(state.x, stats[row].x / state.y);
    }
    return vec2<f32>(0.0, 0.0);
}

// Normalisers of keys j0 .. j0+3 of row i.
fn norms(i: u32, span: RowSpan, j0: u32) -> Norm4 {
    if (head.segments == 1u) {
        let n = stats[i * head.stat_stride + 1u];
        return Norm4(vec4<f32>(n.x), vec4<f32>(n.y));
    }
    let g = four(j0) / head.segment;
    let a = segment_norm(i, span, g.x);
    var out = Norm4(vec4<f32>(a.x), vec4<f32>(a.y));
    if (g.w == g.x) {
        return out;
    }
    var b = a;
    if (g.y != g.x) { b = segment_norm(i, span, g.y); }
    var c = b;
    if (g.z != g.y) { c = segment_norm(i, span, g.z); }
    var d = c;
    if (g.w != g.z) { d = segment_norm(i, span, g.w); }
    return Norm4(vec4<f32>(a.x, b.x, c.x, d.x), vec4<f32>(a.y, b.y, c.y, d.y));
}

// A of row i and keys j0 .. j0+3 from their scores; exactly 0 where a key is not visible.
fn weights(i: u32, span: RowSpan, j0: u32, r: vec4<f32>, seen: vec4<bool>) -> vec4<f32> {
    let n = norms(i, span, j0);
    // Where nothing is visible z − top may be large; the exponent of such cells is never taken.
    let e = exp(select(vec4<f32>(LOWEST), exponents(i, j0, r) - n.top, seen)) * n.factor;
    var a = e;
    if (head.reading == READING_PRODUCT) {
        a = e * r;
    }
    return select(vec4<f32>(0.0), a, seen);
}
