// Output of the map kernels: texels of (value, visible share) and their range. Declares group 1
// bindings 1–3.
// Rust twin: `gpu_data::MapParams`.
//!import shared/numeric

// Values of MapParams.pool.
const POOL_MAX: u32 = 0u;
const POOL_MEAN: u32 = 1u;

struct MapParams {
    // The rectangle in cells.
    row: u32,
    col: u32,
    rows: u32,
    cols: u32,
    texel_rows: u32,
    texel_cols: u32,
    // Texel rows of this launch: first ..< end.
    first: u32,
    end: u32,
    pool: u32,
    pad0: u32,
    pad1: u32,
    pad2: u32,
}

@group(1) @binding(1) var<uniform> map: MapParams;
// [texel_rows, texel_cols] of (value, visible share).
@group(1) @binding(2) var<storage, read_write> texels: array<vec2<f32>>;
// Largest ordered(value) and largest ~ordered(value) over the visible texels; 0 means none.
@group(1) @binding(3) var<storage, read_write> value_range: array<atomic<u32>, 2>;

fn widen_range(least: f32, most: f32) {
    atomicMax(&value_range[0], ordered(most));
    atomicMax(&value_range[1], ~ordered(least));
}
