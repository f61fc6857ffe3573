// Head outputs O = A V' of one head (SPEC 4), streamed over the keys: no weight is stored. Four
// rows, up to 32 numbers of each, per thread.
//!import shared/weights

// Rust twin: `gpu_data::OutputParams`.
struct OutputParams {
    // d_h.
    head_dim: u32,
    // vec4s from one row of values to the next.
    value_stride: u32,
    // Numbers from one row of O to the next, and the column where this head starts.
    out_stride: u32,
    out_col: u32,
}

@group(1) @binding(1) var<uniform> shape: OutputParams;
// v', rows of `value_stride` vec4s.
@group(1) @binding(2) var<storage, read> values: array<vec4<f32>>;
// [L, out_stride].
@group(1) @binding(3) var<storage, read_write> outputs: array<f32>;

// vec4s of a row that one thread computes.
const CHUNK: u32 = 8u;

override WORKGROUP: u32 = 32u;

// Four values of four keys; columns past the last repeat it and are not written.
fn values4(j: vec4<u32>, c: u32) -> mat4x4<f32> {
    let at = j * shape.value_stride + min(c, shape.value_stride - 1u);
    return mat4x4<f32>(values[at.x], values[at.y], values[at.z], values[at.w]);
}

fn put(i: u32, c: u32, o: vec4<f32>) {
    let x = 4u * c;
    if (i >= head.row_end || x >= shape.head_dim) {
        return;
    }
    let at = i * shape.out_stride + shape.out_col + x;
    outputs[at] = o.x;
    if (x + 1u < shape.head_dim) { outputs[at + 1u] = o.y; }
    if (x + 2u < shape.head_dim) { outputs[at + 2u] = o.z; }
    if (x + 3u < shape.head_dim) { outputs[at + 3u] = o.w; }
}

fn put4(i: u32, c: u32, o: mat4x4<f32>) {
    put(i, c, o[0]);
    put(i + 1u, c, o[1]);
    put(i + 2u, c, o[2]);
    put(i + 3u, c, o[3]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let chunks = (shape.value_stride + CHUNK - 1u) / CHUNK;
    let i0 = head.row0 + 4u * (thread / chunks);
    let c = CHUNK * (thread % chunks);
    if (i0 >= head.row_end) {
        return;
    }
    let rows = four(i0);
    let s0 = row_span(i32(rows.x), head);
    let s1 = row_span(i32(rows.y), head);
    let s2 = row_span(i32(rows.z), head);
    let s3 = row_span(i32(rows.w), head);
    let block = block_span(i32(rows.x), i32(rows.w), head);
    let prefix = u32(block.prefix);
    var lo = u32(block.lo);
    var stop = u32(max(max(block.prefix, block.hi + 1), 0));
    if (FULLY_MASKED == EMPTY_MEAN && (blind(rows.x) || blind(rows.y) || blind(rows.z) || blind(rows.w))) {
        lo = 0u;
        stop = head.seq_len;
    }

    var o0 = mat4x4<f32>();
    var o1 = mat4x4<f32>();
    var o2 = mat4x4<f32>();
    var o3 = mat4x4<f32>();
    var o4 = mat4x4<f32>();
    var o5 = mat4x4<f32>();
    var o6 = mat4x4<f32>();
    var o7 = mat4x4<f32>();
    var j = 0u;
    loop {
        if (j >= prefix && j < lo) {
            j = lo; // Nothing is visible between the prefix and the window.
        }
        if (j >= stop) {
            break;
        }
        let v0 = weighed(rows.x, s0, j, stop);
        let v1 = weighed(rows.y, s1, j, stop);
        let v2 = weighed(rows.z, s2, j, stop);
        let v3 = weighed(rows.w, s3, j, stop);
        let r = scores(i0, j, vec4_count());
        let a = mat4x4<f32>(weights(rows.x, s0, j, r[0], v0), weights(rows.y, s1, j, r[1], v1), weights(rows.z, s2, j, r[2], v2), weights(rows.w, s3, j, r[3], v3));
        let keys4 = four(j);
        o0 += values4(keys4, c) * a;
        o1 += values4(keys4, c + 1u) * a;
        o2 += values4(keys4, c + 2u) * a;
        o3 += values4(keys4, c + 3u) * a;
        o4 += values4(keys4, c + 4u) * a;
        o5 += values4(keys4, c + 5u) * a;
        o6 += values4(keys4, c + 6u) * a;
        o7 += values4(keys4, c + 7u) * a;
        j += 4u;
    }
    put4(i0, c, o0);
    put4(i0, c + 1u, o1);
    put4(i0, c + 2u, o2);
    put4(i0, c + 3u, o3);
    put4(i0, c + 4u, o4);
    put4(i0, c + 5u, o5);
    put4(i0, c + 6u, o6);
    put4(i0, c + 7u, o7);
}
