// Sum of squares of every column of a matrix: ‖T_c‖² and ‖Y‖² (SPEC 4). One column per thread.

// Rust twin: `gpu_data::EnergyParams`.
struct EnergyParams {
    rows: u32,
    cols: u32,
    // Numbers from one row to the next.
    stride: u32,
    // First entry of `energies` to write.
    offset: u32,
}

@group(0) @binding(0) var<uniform> p: EnergyParams;
@group(0) @binding(1) var<storage, read> matrix: array<f32>;
@group(0) @binding(2) var<storage, read_write> energies: array<f32>;

// Rows per partial sum: keeps rounding small for long sequences.
const BLOCK: u32 = 64u;

override WORKGROUP: u32 = 32u;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let thread = id.x + id.y * groups.x * WORKGROUP;
    let c = thread;
    if (c >= p.cols) {
        return;
    }
    var total = 0.0;
    for (var i0 = 0u; i0 < p.rows; i0 += BLOCK) {
        var part = 0.0;
        for (var i = i0; i < min(i0 + BLOCK, p.rows); i++) {
            let v = matrix[i * p.stride + c];
            part += v * v;
        }
        total += part;
    }
    energies[p.offset + c] = total;
}
