// A plain matrix (the layer output) as texels, for the same heatmap as attention maps.
// Each texel takes the largest of its cells by magnitude. One texel per thread.
//!import shared/texels

@group(1) @binding(0) var<storage, read> matrix: array<f32>;

// Rust twin: `gpu_data::MatrixParams`.
struct MatrixParams {
    // Numbers from one row of the matrix to the next.
    stride: u32,
    // First texel of `texels` that this matrix writes.
    offset: u32,
    // 1 when the values of this matrix widen the range.
    widens: u32,
    pad0: u32,
}

@group(0) @binding(0) var<uniform> shape: MatrixParams;

override WORKGROUP: u32 = 32u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let y = map.first + thread / map.texel_cols;
    let x = thread % map.texel_cols;
    if (y >= map.end) {
        return;
    }
    // Every texel visits as many cells as the largest has, repeating its last ones if it has fewer:
    // software adapters run neighbouring threads in lockstep.
    let row = y * map.rows / map.texel_rows;
    let col = x * map.cols / map.texel_cols;
    let row_last = (y + 1u) * map.rows / map.texel_rows - 1u;
    let col_last = (x + 1u) * map.cols / map.texel_cols - 1u;
    let down = (map.rows + map.texel_rows - 1u) / map.texel_rows;
    let across = (map.cols + map.texel_cols - 1u) / map.texel_cols;
    var value = 0.0;
    for (var i = 0u; i < down; i++) {
        let start = min(row + i, row_last) * shape.stride;
        for (var j = 0u; j < across; j++) {
            let v = matrix[start + min(col + j, col_last)];
            value = select(value, v, abs(v) > abs(value));
        }
    }
    if (shape.widens != 0u) {
        widen_range(value, value);
    }
    texels[shape.offset + y * map.texel_cols + x] = vec2<f32>(value, 1.0);
}
