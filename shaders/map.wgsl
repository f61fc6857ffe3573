// The visible rectangle of one head, one texel per cell. Sixteen cells a thread.
//!import shared/cells
//!import shared/texels

override WORKGROUP: u32 = 32u;

// Four texels of one row, as far as the rectangle goes.
fn put(i: u32, j0: u32, value: vec4<f32>, seen: vec4<bool>) {
    if (i >= map.row + map.end) {
        return;
    }
    let hidden = select(0.0, NO_KEY, blind(i));
    let share = select(vec4<f32>(hidden), vec4<f32>(1.0), seen);
    let x = j0 - map.col;
    let at = (i - map.row) * map.texel_cols + x;
    texels[at] = vec2<f32>(value.x, share.x);
    if (x + 1u < map.texel_cols) { texels[at + 1u] = vec2<f32>(value.y, share.y); }
    if (x + 2u < map.texel_cols) { texels[at + 2u] = vec2<f32>(value.z, share.z); }
    if (x + 3u < map.texel_cols) { texels[at + 3u] = vec2<f32>(value.w, share.w); }
}

fn least(value: vec4<f32>, seen: vec4<bool>) -> f32 {
    return -max4(select(vec4<f32>(LOWEST), -value, seen));
}

fn most(value: vec4<f32>, seen: vec4<bool>) -> f32 {
    return max4(select(vec4<f32>(LOWEST), value, seen));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let across = (map.texel_cols + 3u) / 4u;
    let i0 = map.row + map.first + 4u * (thread / across);
    let j0 = map.col + 4u * (thread % across);
    if (i0 >= map.row + map.end) {
        return;
    }
    let rows = four(i0);
    let s0 = row_span(i32(rows.x), head);
    let s1 = row_span(i32(rows.y), head);
    let s2 = row_span(i32(rows.z), head);
    let s3 = row_span(i32(rows.w), head);
    let end = map.col + map.cols;
    // Rows behind the rectangle neither show nor widen the range.
    let inside = vec4<u32>(i0) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(map.row + map.end);
    let v0 = drawn(rows.x, s0, j0, end);
    let v1 = drawn(rows.y, s1, j0, end) & vec4<bool>(inside.y);
    let v2 = drawn(rows.z, s2, j0, end) & vec4<bool>(inside.z);
    let v3 = drawn(rows.w, s3, j0, end) & vec4<bool>(inside.w);
    let any_seen = any(v0 | v1 | v2 | v3);
    let r = scores(i0, j0, select(0u, vec4_count(), any_seen));
    let a = mat4x4<f32>(
        values(rows.x, s0, j0, r[0], v0),
        values(rows.y, s1, j0, r[1], v1),
        values(rows.z, s2, j0, r[2], v2),
        values(rows.w, s3, j0, r[3], v3),
    );
    if (any_seen) {
        widen_range(
            min(min(least(a[0], v0), least(a[1], v1)), min(least(a[2], v2), least(a[3], v3))),
            max(max(most(a[0], v0), most(a[1], v1)), max(most(a[2], v2), most(a[3], v3))),
        );
    }
    put(i0, j0, a[0], v0);
    put(i0 + 1u, j0, a[1], v1);
    put(i0 + 2u, j0, a[2], v2);
    put(i0 + 3u, j0, a[3], v3);
}
