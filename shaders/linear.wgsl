// Y = X Wᵀ + b over any number of leading columns: projections to q, k, v of one head, the layer
// output, and both factors of the low-rank output. A sum can continue an earlier one in Y.
//
// Eight rows by four outputs per thread. W is transposed, and the outputs of a thread are strided,
// so that neighbouring threads read neighbouring numbers of W and the same numbers of X: software
// adapters load those at once and everything else one by one.

// Rust twin: `gpu_data::LinearParams`.
struct LinearParams {
    // Rows of this launch: row0 ..< row_end.
    row0: u32,
    row_end: u32,
    // Numbers of a row of X that are used: d, or the output rank.
    inner: u32,
    // vec4s from one row of X to the next.
    x_stride: u32,
    // Numbers from one row of Wᵀ to the next.
    w_stride: u32,
    // First column of Wᵀ (and entry of b) that is used, and how many are used.
    w_col0: u32,
    outs: u32,
    // Numbers from one row of Y to the next.
    y_stride: u32,
    // 1 when b is added.
    has_bias: u32,
    // First vec4 of a row of X that is used.
    first: u32,
    // Where in Y the continued sum starts; NOTHING starts at 0.
    start: u32,
    // Where in Y the result starts.
    to: u32,
}

@group(0) @binding(0) var<uniform> p: LinearParams;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

override WORKGROUP: u32 = 32u;

// No sum is continued.
const NOTHING: u32 = 0xffffffffu;

// Row c of Wᵀ at four outputs.
fn weights(c: u32, o: vec4<u32>) -> vec4<f32> {
    let at = o + vec4<u32>(p.w_col0 + c * p.w_stride);
    return vec4<f32>(w[at.x], w[at.y], w[at.z], w[at.w]);
}

// Four rows of X at vec4 c, times 0 where they are not used.
fn inputs(row: vec4<u32>, c: u32, part: vec4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(part * x[row.x + c], part * x[row.y + c], part * x[row.z + c], part * x[row.w + c]);
}

// Writes four outputs of one row, added to the sum they continue.
fn put(i: u32, o: vec4<u32>, there: vec4<bool>, sum: vec4<f32>) {
    let row = i * p.y_stride;
    var value = sum;
    if (p.start != NOTHING) {
        let at = o + vec4<u32>(p.start + row);
        value += vec4<f32>(y[at.x], y[at.y], y[at.z], y[at.w]);
    }
    let at = o + vec4<u32>(p.to + row);
    y[at.x] = value.x;
    if (there.y) { y[at.y] = value.y; }
    if (there.z) { y[at.z] = value.z; }
    if (there.w) { y[at.w] = value.w; }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let across = (p.outs + 3u) / 4u;
    let i = p.row0 + 8u * (thread / across);
    if (i >= p.row_end) {
        return;
    }
    let step = vec4<u32>(0u, 1u, 2u, 3u);
    let wanted = vec4<u32>(thread % across) + across * step;
    let there = wanted < vec4<u32>(p.outs);
    let o = min(wanted, vec4<u32>(p.outs - 1u));
    let last = vec4<u32>(p.row_end - 1u);
    let upper = min(vec4<u32>(i) + step, last) * p.x_stride;
    let lower = min(vec4<u32>(i + 4u) + step, last) * p.x_stride;
    var above = mat4x4<f32>();
    var below = mat4x4<f32>();
    for (var c = p.first; 4u * c < p.inner; c++) {
        let at = vec4<u32>(4u * c) + step;
        let part = select(vec4<f32>(0.0), vec4<f32>(1.0), at < vec4<u32>(p.inner));
        let column = min(at, vec4<u32>(p.inner - 1u));
        let ws = mat4x4<f32>(weights(column.x, o), weights(column.y, o), weights(column.z, o), weights(column.w, o));
        above += ws * inputs(upper, c, part);
        below += ws * inputs(lower, c, part);
    }
    var bias = vec4<f32>(0.0);
    if (p.has_bias != 0u) {
        let at = o + vec4<u32>(p.w_col0);
        bias = vec4<f32>(b[at.x], b[at.y], b[at.z], b[at.w]);
    }
    // A loop: unrolled eight times, it takes a software adapter longer to compile than to run.
    let count = min(8u, p.row_end - i);
    for (var row = 0u; row < count; row++) {
        var sum = above[row % 4u];
        if (row >= 4u) { sum = below[row % 4u]; }
        put(i + row, o, there, sum + bias);
    }
}
