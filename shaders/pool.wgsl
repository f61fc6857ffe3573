// The visible rectangle of one head, several cells per texel. One texel per thread.
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
    var pooled = Pooled(0.0, 0.0, 0.0, 0.0);
    for (var i0 = row0; i0 < row_end; i0 += 4u) {
        let end_row = min(i0 + 4u, row_end);
        // Of the texel's keys, read only those that one of the four rows can see.
        var block = block_span(i32(i0), i32(end_row) - 1, head);
        if (FULLY_MASKED == EMPTY_MEAN) {
            block = RowSpan(0, 0, i32(col_end) - 1); // A fully masked row has weights everywhere.
        }
        let prefix = u32(block.prefix);
        let lo = u32(block.lo);
        let stop = min(u32(max(max(block.prefix, block.hi + 1), 0)), col_end);
        var j0 = col0;
        loop {
            if (j0 >= prefix && j0 < lo) {
                j0 = lo; // Nothing is visible between the prefix and the window.
            }
            if (j0 >= stop) {
                break;
            }
            var r = scores(i0, j0, vec4_count());
            for (var i = i0; i < end_row; i++) {
                let span = row_span(i32(i), head);
                let seen = drawn(i, span, j0, col_end);
                pooled = pool4(pooled, values(i, span, j0, r[0], seen), seen);
                r = mat4x4<f32>(r[1], r[2], r[3], r[0]);
            }
            j0 += 4u;
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
