// Y = X Wᵀ + b over any number of leading columns: projections to q, k, v of one head, the layer
// output, and both factors of its low-rank twin. Four rows by four outputs a thread. A sum can be
// continued from an earlier one in Y, with the bits that it would have in one go.

// Rust twin: `gpu_data::LinearParams`.
struct LinearParams {
    // Rows of this launch: row0 ..< row_end.
    row0: u32,
    row_end: u32,
    // Numbers of a row of X that take part: d, or the output rank.
    inner: u32,
    // vec4s from one row to the next of X and of W.
    x_stride: u32,
    w_stride: u32,
    // First row of W (and entry of b) that is used, and how many are.
    w_row0: u32,
    outs: u32,
    // Numbers from one row of Y to the next.
    y_stride: u32,
    // 1 when b is added.
    has_bias: u32,
    // First vec4 of a row of X that takes part.
    first: u32,
    // Where in Y the sum that is continued starts; NOTHING begins at 0.
    start: u32,
    // Where in Y the result starts.
    to: u32,
}

@group(0) @binding(0) var<uniform> p: LinearParams;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

override WORKGROUP: u32 = 32u;

// No sum is continued.
const NOTHING: u32 = 0xffffffffu;

fn put(i: u32, o0: u32, value: vec4<f32>) {
    if (i >= p.row_end) {
        return;
    }
    let at = p.to + i * p.y_stride + o0;
    y[at] = value.x;
    if (o0 + 1u < p.outs) { y[at + 1u] = value.y; }
    if (o0 + 2u < p.outs) { y[at + 2u] = value.z; }
    if (o0 + 3u < p.outs) { y[at + 3u] = value.w; }
}

// What is there of row i: the sum that is continued.
fn begun(i: u32, o0: u32) -> vec4<f32> {
    let at = p.start + min(i, p.row_end - 1u) * p.y_stride + o0;
    return vec4<f32>(y[at], y[at + 1u], y[at + 2u], y[at + 3u]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let across = (p.outs + 3u) / 4u;
    let i0 = p.row0 + 4u * (thread / across);
    let o0 = 4u * (thread % across);
    if (i0 >= p.row_end) {
        return;
    }
    let step = vec4<u32>(0u, 1u, 2u, 3u);
    let xi = min(vec4<u32>(i0) + step, vec4<u32>(p.row_end - 1u)) * p.x_stride;
    let outs = vec4<u32>(p.w_row0) + min(vec4<u32>(o0) + step, vec4<u32>(p.outs - 1u));
    let wi = outs * p.w_stride;
    let whole = p.inner / 4u;
    var acc = mat4x4<f32>();
    if (p.start != NOTHING) {
        acc = mat4x4<f32>(begun(i0, o0), begun(i0 + 1u, o0), begun(i0 + 2u, o0), begun(i0 + 3u, o0));
    }
    for (var c = p.first; c < whole; c++) {
        let xs = mat4x4<f32>(x[xi.x + c], x[xi.y + c], x[xi.z + c], x[xi.w + c]);
        let ws = mat4x4<f32>(w[wi.x + c], w[wi.y + c], w[wi.z + c], w[wi.w + c]);
        acc += transpose(ws) * xs;
    }
    if (whole * 4u < p.inner) {
        let at = vec4<u32>(4u * whole) + step;
        let m = select(vec4<f32>(0.0), vec4<f32>(1.0), at < vec4<u32>(p.inner));
        let xs = mat4x4<f32>(m * x[xi.x + whole], m * x[xi.y + whole], m * x[xi.z + whole], m * x[xi.w + whole]);
        let ws = mat4x4<f32>(w[wi.x + whole], w[wi.y + whole], w[wi.z + whole], w[wi.w + whole]);
        acc += transpose(ws) * xs;
    }
    var bias = vec4<f32>(0.0);
    if (p.has_bias != 0u) {
        bias = vec4<f32>(b[outs.x], b[outs.y], b[outs.z], b[outs.w]);
    }
    put(i0, o0, acc[0] + bias);
    put(i0 + 1u, o0, acc[1] + bias);
    put(i0 + 2u, o0, acc[2] + bias);
    put(i0 + 3u, o0, acc[3] + bias);
}
