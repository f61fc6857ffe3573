// The visible rectangle of one head, one texel per cell. Sixteen cells per thread.
//!import shared/cells
//!import shared/texels

override WORKGROUP: u32 = 32u;
// Whether `stats` wrote the scores into the texels; the rectangle is then the whole map.
override SCORES_CACHED: bool = false;

// The scores of keys j that `stats` wrote in row i; any finite number if the row's block of four
// sees none of them.
fn cached_row(i: u32, j: vec4<u32>) -> vec4<f32> {
    let at = vec4<u32>(i * map.texel_cols) + j;
    return vec4<f32>(texels[at.x].x, texels[at.y].x, texels[at.z].x, texels[at.w].x);
}

// r of rows i0 .. i0+3 and keys j0 .. j0+3, like `scores`.
fn cached_scores(i0: u32, j0: u32) -> mat4x4<f32> {
    let i = four(i0);
    let j = four(j0);
    return mat4x4<f32>(cached_row(i.x, j), cached_row(i.y, j), cached_row(i.z, j), cached_row(i.w, j));
}

// Writes four texels of one row, if inside the rectangle.
fn put(i: u32, j0: u32, value: vec4<f32>, seen: vec4<bool>) {
    let share = select(vec4<f32>(0.0), vec4<f32>(1.0), seen);
    let x = j0 - map.col;
    let at = (i - map.row) * map.texel_cols + x;
    texels[at] = vec2<f32>(value.x, share.x);
    if (x + 1u < map.texel_cols) { texels[at + 1u] = vec2<f32>(value.y, share.y); }
    if (x + 2u < map.texel_cols) { texels[at + 2u] = vec2<f32>(value.z, share.z); }
    if (x + 3u < map.texel_cols) { texels[at + 3u] = vec2<f32>(value.w, share.w); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let across = (map.texel_cols + 3u) / 4u;
    let i0 = map.row + map.first + 4u * (thread / across);
    let j0 = map.col + 4u * (thread % across);
    // Rows past the end of the rectangle neither show nor widen the range.
    let end_row = min(i0 + 4u, map.row + map.end);
    let end = map.col + map.cols;
    let block = block_span(i32(i0), i32(i0) + 3, head);
    let near = i32(j0) < block.prefix || (i32(j0) <= block.hi && i32(j0) + 3 >= block.lo);
    var r = mat4x4<f32>();
    if (SCORES_CACHED) {
        r = cached_scores(i0, j0);
    } else {
        r = scores(i0, j0, select(0u, vec4_count(), near && i0 < end_row));
    }
    // Negated, the smallest is a maximum too.
    var ends = vec2<f32>(LOWEST);
    // A loop that rotates its rows through index 0: written out four times, it takes a software
    // adapter longer to compile; indexed by a variable, longer to run.
    for (var i = i0; i < end_row; i++) {
        let span = row_span(i32(i), head);
        let seen = drawn(i, span, j0, end);
        let value = values(i, span, j0, r[0], seen);
        let none = vec4<f32>(LOWEST);
        ends = max(ends, vec2<f32>(max4(select(none, -value, seen)), max4(select(none, value, seen))));
        put(i, j0, value, seen);
        r = mat4x4<f32>(r[1], r[2], r[3], r[0]);
    }
    if (ends.y > LOWEST) {
        widen_range(-ends.x, ends.y);
    }
}
