// k' = k + amplitude · P_K, and v' = v + amplitude · P_V (SPEC 1, 4), of one head. One vec4 per
// thread.
//
// The common row of the keys was subtracted from them and follows the last key (SPEC 7). P_K is
// split the same way: every key gets its own part of P, the common row gets the part that all rows
// of P share. A shared P_K adds nothing to any key: it moves no weight, however large it is.

// Rust twin: `gpu_data::BiasParams`.
struct BiasParams {
    // vec4s of the head's rows, without the common one.
    count: u32,
    // vec4s of P: one row (shared) or as many as `count` (per position).
    period: u32,
    amplitude: f32,
    // vec4s of one row.
    stride: u32,
}

@group(0) @binding(0) var<uniform> p: BiasParams;
@group(0) @binding(1) var<storage, read> base: array<vec4<f32>>;
// `period` vec4s, followed by the part that all rows have in common.
@group(0) @binding(2) var<storage, read> unit: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> biased: array<vec4<f32>>;

override WORKGROUP: u32 = 32u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    if (thread >= p.count + p.stride) {
        return;
    }
    let of_all = unit[p.period + thread % p.stride];
    var own = of_all;
    if (thread < p.count) {
        own = unit[thread % p.period] - of_all;
    }
    biased[thread] = base[thread] + p.amplitude * own;
}
