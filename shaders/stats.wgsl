// Row statistics of one head (SPEC 3): per row and segment the maximum and the normaliser of z, per
// row the number of visible keys and of segments with a visible key. Four rows per thread.
//!import shared/head

// Per row: (1/G, visible keys, shared score), then per stored segment (maximum of z, 1 / (G · sum),
// largest s).
@group(1) @binding(0) var<storage, read_write> stats: array<vec4<f32>>;
// Texels of the whole map; with SCORES_CACHED, `map` reads its scores there.
@group(1) @binding(1) var<storage, read_write> texels: array<vec2<f32>>;

// Whether to store the scores for `map`: each is then computed once.
override SCORES_CACHED: bool = false;

override WORKGROUP: u32 = 32u;

// Stores the scores of row i and keys j0 .. j0+3 in their texels.
fn keep(i: u32, j0: u32, r: vec4<f32>) {
    if (i >= head.row_end) {
        return;
    }
    let at = i * head.seq_len + j0;
    texels[at].x = r.x;
    if (j0 + 1u < head.seq_len) { texels[at + 1u].x = r.y; }
    if (j0 + 2u < head.seq_len) { texels[at + 2u].x = r.z; }
    if (j0 + 3u < head.seq_len) { texels[at + 3u].x = r.w; }
}

// Writes a finished segment and returns 1 if it had a visible key.
fn flush(i: u32, g: u32, state: vec2<f32>, bias: f32) -> f32 {
    if (state.y <= 0.0) {
        return 0.0;
    }
    if (SEGMENTS != SEGMENTS_RECOMPUTED && i < head.row_end) {
        stats[i * head.stat_stride + 1u + g] = vec4<f32>(state.x, 1.0 / state.y, bias, 0.0);
    }
    return 1.0;
}

// Writes the row's own entry and divides the normalisers by the G segments.
fn finish(i: u32, groups: f32, count: f32) {
    if (i >= head.row_end) {
        return;
    }
    let row = i * head.stat_stride;
    let share = select(0.0, 1.0 / max(groups, 1.0), groups > 0.0);
    stats[row] = vec4<f32>(share, count, shared_score(i), 0.0);
    if (groups > 1.0) {
        for (var g = 1u; g < head.stat_stride; g++) {
            stats[row + g].y *= share;
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let i0 = head.row0 + 4u * thread;
    if (i0 >= head.row_end) {
        return;
    }
    // Scores are needed only for stored normalisers, and not if only s is normalised.
    let scored = SEGMENTS != SEGMENTS_RECOMPUTED && READING != READING_PRODUCT;
    let count4 = select(0u, vec4_count(), scored);
    let last = head.seq_len - 1u;
    let end_row = min(i0 + 4u, head.row_end);
    for (var at = i0 * head.stat_stride; at < end_row * head.stat_stride; at++) {
        stats[at] = vec4<f32>(0.0);
    }

    // Loops rotate the rows through index 0: written out four times, they take a software adapter
    // longer to compile; indexed by a variable, longer to run.
    var lo4 = vec4<i32>();
    var hi4 = vec4<i32>();
    var prefix4 = vec4<i32>();
    for (var n = 0u; n < 4u; n++) {
        let span = row_span(i32(i0 + n), head);
        lo4 = vec4<i32>(lo4.yzw, span.lo);
        hi4 = vec4<i32>(hi4.yzw, span.hi);
        prefix4 = vec4<i32>(prefix4.yzw, span.prefix);
    }
    let block = block_span(i32(i0), i32(min(i0 + 3u, last)), head);
    let prefix = u32(block.prefix);
    let lo = u32(block.lo);
    let stop = u32(max(max(block.prefix, block.hi + 1), 0));

    let fresh = vec2<f32>(LOWEST, 0.0);
    // Running maximum and sum of each row.
    var state = mat4x2<f32>(fresh, fresh, fresh, fresh);
    var nonempty = vec4<f32>(0.0);
    var count = vec4<f32>(0.0);
    // The largest s of each row in the current segment.
    var bias4 = vec4<f32>(0.0);
    var segment = 0u;
    var segment_end = 0u;
    var j = 0u;
    loop {
        if (j >= prefix && j < lo) {
            j = lo; // Nothing is visible between the prefix and the window.
        }
        if (j >= segment_end || j >= stop) {
            for (var n = 0u; n < 4u; n++) {
                nonempty = vec4<f32>(nonempty.yzw, nonempty.x + flush(i0 + n, segment, state[0], bias4.x));
                state = mat4x2<f32>(state[1], state[2], state[3], fresh);
                bias4 = bias4.yzwx;
            }
            if (j >= stop) {
                break;
            }
            segment = j / head.segment;
            segment_end = (segment + 1u) * head.segment;
            if (READING == READING_BIAS && S_KIND != S_NONE) {
                for (var n = 0u; n < 4u; n++) {
                    let span = RowSpan(prefix4.x, lo4.x, hi4.x);
                    bias4 = vec4<f32>(bias4.yzw, largest_bias(i0 + n, span, j, min(segment_end, stop)));
                    lo4 = lo4.yzwx;
                    hi4 = hi4.yzwx;
                    prefix4 = prefix4.yzwx;
                }
            }
        }
        let end = min(min(j + 4u, segment_end), stop);
        var r = scores(i0, j, count4);
        for (var n = 0u; n < 4u; n++) {
            let span = RowSpan(prefix4.x, lo4.x, hi4.x);
            let seen = visible(i0 + n, span, j, end);
            let row = min(i0 + n, last);
            if (SCORES_CACHED) {
                keep(i0 + n, j, r[0]);
            }
            let next = absorb(state[0], exponents(row, j, r[0], vec4<f32>(bias4.x)), seen);
            bias4 = bias4.yzwx;
            state = mat4x2<f32>(state[1], state[2], state[3], next);
            count = vec4<f32>(count.yzw, count.x + sum4(select(vec4<f32>(0.0), vec4<f32>(1.0), seen)));
            r = mat4x4<f32>(r[1], r[2], r[3], r[0]);
            lo4 = lo4.yzwx;
            hi4 = hi4.yzwx;
            prefix4 = prefix4.yzwx;
        }
        j = end;
    }
    for (var n = 0u; n < 4u; n++) {
        finish(i0 + n, nonempty.x, count.x);
        nonempty = nonempty.yzwx;
        count = count.yzwx;
    }
}
