// The visible rectangle of one head, several cells per texel. One texel a thread.
//!import shared/cells
//!import shared/texels

override WORKGROUP: u32 = 32u;

// Largest, smallest (0 included), sum and number of the visible cells of a texel.
struct Pooled {
    most: f32,
    least: f32,
    sum: f32,
    count: f32,
}

fn pool4(p: Pooled, value: vec4<f32>, seen: vec4<bool>) -> Pooled {
    let v = select(vec4<f32>(0.0), value, seen);
    let one = select(vec4<f32>(0.0), vec4<f32>(1.0), seen);
    return Pooled(max(p.most, max4(v)), min(p.least, -max4(-v)), p.sum + sum4(v), p.count + sum4(one));
}

// First cell of texel `at` when `cells` are spread over `texel_count`.
fn cell_of(at: u32, cells: u32, texel_count: u32) -> u32 {
    let whole = cells / texel_count;
    let rest = cells % texel_count;
    return at * whole + at * rest / texel_count;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let y = map.first + thread / map.texel_cols;
    let x = thread % map.texel_cols;
    if (y >= map.end) {
        return;
    }
    let row0 = map.row + cell_of(y, map.rows, map.texel_rows);
    let row_end = map.row + cell_of(y + 1u, map.rows, map.texel_rows);
    let col0 = map.col + cell_of(x, map.cols, map.texel_cols);
    let col_end = map.col + cell_of(x + 1u, map.cols, map.texel_cols);
    let none = vec4<bool>(false);
    var pooled = Pooled(0.0, 0.0, 0.0, 0.0);
    for (var i0 = row0; i0 < row_end; i0 += 4u) {
        let rows = four(i0);
        let s0 = row_span(i32(rows.x), head);
        let s1 = row_span(i32(rows.y), head);
        let s2 = row_span(i32(rows.z), head);
        let s3 = row_span(i32(rows.w), head);
        let inside = vec4<u32>(i0) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(row_end);
        for (var j0 = col0; j0 < col_end; j0 += 4u) {
            let v0 = drawn(rows.x, s0, j0, col_end);
            let v1 = select(none, drawn(rows.y, s1, j0, col_end), inside.y);
            let v2 = select(none, drawn(rows.z, s2, j0, col_end), inside.z);
            let v3 = select(none, drawn(rows.w, s3, j0, col_end), inside.w);
            let count = select(0u, vec4_count(), any(v0 | v1 | v2 | v3));
            let r = scores(i0, j0, count);
            pooled = pool4(pooled, values(rows.x, s0, j0, r[0], v0), v0);
            pooled = pool4(pooled, values(rows.y, s1, j0, r[1], v1), v1);
            pooled = pool4(pooled, values(rows.z, s2, j0, r[2], v2), v2);
            pooled = pool4(pooled, values(rows.w, s3, j0, r[3], v3), v3);
        }
    }
    // The largest by magnitude, with its sign.
    var value = select(pooled.most, pooled.least, -pooled.least > pooled.most);
    if (map.pool == POOL_MEAN) {
        value = pooled.sum / max(pooled.count, 1.0);
    }
    let share = pooled.count / f32((row_end - row0) * (col_end - col0));
    if (pooled.count > 0.0) {
        widen_range(value, value);
    }
    texels[y * map.texel_cols + x] = vec2<f32>(value, share);
}
