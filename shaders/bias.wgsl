// k' = k + amplitude · P_K, and v' likewise (SPEC 1, 4), of one head. One vec4 a thread.

// Rust twin: `gpu_data::BiasParams`.
struct BiasParams {
    // vec4s of the head.
    count: u32,
    // vec4s of P: one row (shared) or as many as `count` (per position).
    period: u32,
    amplitude: f32,
    pad0: u32,
}

@group(0) @binding(0) var<uniform> p: BiasParams;
@group(0) @binding(1) var<storage, read> base: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> unit: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> biased: array<vec4<f32>>;

override WORKGROUP: u32 = 32u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    if (thread >= p.count) {
        return;
    }
    biased[thread] = base[thread] + p.amplitude * unit[thread % p.period];
}
