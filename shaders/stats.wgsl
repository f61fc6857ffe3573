// Row statistics of one head (SPEC 3): per row and segment the maximum and the normaliser of z,
// per row the number of visible keys and of segments that hold one. Four rows a thread.
//!import shared/head

// Per row: (1/G, visible keys), then per stored segment (maximum, 1 / (G · sum)).
@group(1) @binding(0) var<storage, read_write> stats: array<vec2<f32>>;

override WORKGROUP: u32 = 32u;

// Writes a finished segment and returns 1 when it held a key.
fn flush(i: u32, g: u32, state: vec2<f32>) -> f32 {
    if (state.y <= 0.0) {
        return 0.0;
    }
    if (head.stat_stride > head.segments && i < head.row_end) {
        stats[i * head.stat_stride + 1u + g] = vec2<f32>(state.x, 1.0 / state.y);
    }
    return 1.0;
}

// Writes the row's own entry and shares the normalisers out over the G segments.
fn finish(i: u32, groups: f32, count: f32) {
    if (i >= head.row_end) {
        return;
    }
    let row = i * head.stat_stride;
    let share = select(0.0, 1.0 / max(groups, 1.0), groups > 0.0);
    stats[row] = vec2<f32>(share, count);
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
    let stored = head.stat_stride > head.segments;
    let scored = stored && head.reading != READING_PRODUCT;
    let rows = four(i0);
    let end_row = min(i0 + 4u, head.row_end);
    for (var at = i0 * head.stat_stride; at < end_row * head.stat_stride; at++) {
        stats[at] = vec2<f32>(0.0, 0.0);
    }

    let s0 = row_span(i32(rows.x), head);
    let s1 = row_span(i32(rows.y), head);
    let s2 = row_span(i32(rows.z), head);
    let s3 = row_span(i32(rows.w), head);
    let block = block_span(i32(rows.x), i32(rows.w), head);
    let prefix = u32(block.prefix);
    let lo = u32(block.lo);
    let stop = u32(max(max(block.prefix, block.hi + 1), 0));

    let fresh = vec2<f32>(LOWEST, 0.0);
    var a = fresh;
    var b = fresh;
    var c = fresh;
    var d = fresh;
    var nonempty = vec4<f32>(0.0);
    var count = vec4<f32>(0.0);
    var segment = 0u;
    var segment_end = head.segment;
    var j = 0u;
    loop {
        if (j >= prefix && j < lo) {
            j = lo; // Nothing is visible between the prefix and the window.
        }
        if (j >= segment_end || j >= stop) {
            nonempty += vec4<f32>(flush(i0, segment, a), flush(i0 + 1u, segment, b), flush(i0 + 2u, segment, c), flush(i0 + 3u, segment, d));
            if (j >= stop) {
                break;
            }
            a = fresh;
            b = fresh;
            c = fresh;
            d = fresh;
            segment = j / head.segment;
            segment_end = (segment + 1u) * head.segment;
        }
        let end = min(min(j + 4u, segment_end), stop);
        let v0 = visible(i0, s0, j, end);
        let v1 = visible(i0 + 1u, s1, j, end);
        let v2 = visible(i0 + 2u, s2, j, end);
        let v3 = visible(i0 + 3u, s3, j, end);
        var r = mat4x4<f32>();
        if (scored) {
            r = scores(i0, j);
        }
        a = absorb(a, exponents(rows.x, j, r[0]), v0);
        b = absorb(b, exponents(rows.y, j, r[1]), v1);
        c = absorb(c, exponents(rows.z, j, r[2]), v2);
        d = absorb(d, exponents(rows.w, j, r[3]), v3);
        let one = vec4<f32>(1.0);
        let zero = vec4<f32>(0.0);
        count += vec4<f32>(sum4(select(zero, one, v0)), sum4(select(zero, one, v1)), sum4(select(zero, one, v2)), sum4(select(zero, one, v3)));
        j = end;
    }
    finish(i0, nonempty.x, count.x);
    finish(i0 + 1u, nonempty.y, count.y);
    finish(i0 + 2u, nonempty.z, count.z);
    finish(i0 + 3u, nonempty.w, count.w);
}
