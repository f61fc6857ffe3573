// Texels as colours: one triangle over a viewport; the nearest texel, or the largest of a pixel's
// own.
//!import shared/numeric

// Rust twin: `gpu_data::HeatmapParams`.
struct HeatmapParams {
    // Viewport in target pixels.
    origin: vec2<f32>,
    size: vec2<f32>,
    texel_rows: u32,
    texel_cols: u32,
    // First texel in `texels`.
    offset: u32,
    // First entry of `table`.
    table: u32,
    // If `range_given` is 1: the values of the first and the last colour.
    range: vec2<f32>,
    range_given: u32,
    // 1: the middle colour is 0. An automatic range is symmetric about it, and magnitudes increase
    // both ways from it; else the range starts at 0.
    symmetric: u32,
}

@group(0) @binding(0) var<uniform> p: HeatmapParams;
@group(0) @binding(1) var<storage, read> texels: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> value_range: array<u32, 2>;
// Colours as 0xBBGGRR, 256 per table.
@group(0) @binding(3) var<storage, read> table: array<u32>;

const STEPS: f32 = 256.0;

// Whether texels may be smaller than pixels: a constant of the pipeline, because software adapters
// execute both sides of every branch.
override SHRUNK: bool = false;

// Values of SCALE: how a share of the largest magnitude becomes a share of the colours.
const SCALE_LINEAR: u32 = 0u;
const SCALE_SQRT: u32 = 1u;
const SCALE_LOG: u32 = 2u;
override SCALE: u32 = SCALE_LINEAR;
// Where the logarithmic scale starts; smaller shares have the colour of 0.
const LOG_FLOOR: f32 = 1e-3;

// Ends that are no further apart count as one: all values between them count as 0.
const TINY: f32 = 1e-37;

struct Corner {
    @builtin(position) position: vec4<f32>,
    // Values of the first and the last colour: computed here for three vertices, not for every
    // pixel.
    @location(0) @interpolate(flat) ends: vec2<f32>,
}

// Values of the first and the last colour.
fn colour_range() -> vec2<f32> {
    if (p.range_given != 0u) {
        return p.range;
    }
    if (value_range[0] == 0u) {
        return vec2<f32>(0.0, 1.0);
    }
    let most = unordered(value_range[0]);
    if (p.symmetric != 0u) {
        let least = unordered(~value_range[1]);
        let reach = max(abs(least), abs(most));
        return vec2<f32>(-reach, reach);
    }
    return vec2<f32>(0.0, most);
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0), colour_range());
}

// `share` of the largest magnitude as a share of the colours, both 0 ..= 1.
fn scaled(share: f32) -> f32 {
    if (SCALE == SCALE_SQRT) {
        return sqrt(share);
    }
    if (SCALE == SCALE_LOG) {
        return 1.0 - log(max(share, LOG_FLOOR)) / log(LOG_FLOOR);
    }
    return share;
}

// The position of a value in the table, 0 ..= 1.
fn place(value: f32, ends: vec2<f32>) -> f32 {
    let reach = ends.y - ends.x;
    if (SCALE != SCALE_LINEAR && p.symmetric != 0u) {
        let share = clamp((2.0 * value - ends.x - ends.y) / reach, -1.0, 1.0);
        return 0.5 + 0.5 * sign(share) * scaled(abs(share));
    }
    return scaled(clamp((value - ends.x) / reach, 0.0, 1.0));
}

fn colour(value: f32, ends: vec2<f32>) -> vec3<f32> {
    // If the range has no extent, every value is 0.
    var t = 0.5 * f32(p.symmetric);
    if (ends.y - ends.x > TINY) {
        t = place(value, ends);
    }
    let packed = table[p.table + u32(min(t * STEPS, STEPS - 1.0))];
    return unpack4x8unorm(packed).xyz;
}

// The value of a pixel: the texel under its centre, or, where texels are smaller than pixels, the
// largest by magnitude of its own visible texels.
fn footprint(pixel: vec2<f32>) -> vec2<f32> {
    let count = vec2<u32>(p.texel_cols, p.texel_rows);
    let per_pixel = vec2<f32>(count) / p.size;
    let at = min(vec2<u32>(max(pixel * per_pixel, vec2<f32>(0.0))), count - 1u);
    var texel = texels[p.offset + at.y * p.texel_cols + at.x];
    if (!SHRUNK) {
        return texel;
    }
    // A pixel's texels are those whose centres lie in it.
    let first = vec2<u32>(max(ceil(floor(pixel) * per_pixel - 0.5), vec2<f32>(0.0)));
    let end = min(vec2<u32>(max(ceil((floor(pixel) + 1.0) * per_pixel - 0.5), vec2<f32>(0.0))), count);
    for (var y = first.y; y < end.y; y++) {
        for (var x = first.x; x < end.x; x++) {
            let other = texels[p.offset + y * p.texel_cols + x];
            if (other.y > 0.0 && (texel.y <= 0.0 || abs(other.x) > abs(texel.x))) {
                texel = other;
            }
        }
    }
    return texel;
}

@fragment
fn fragment(drawn: Corner) -> @location(0) vec4<f32> {
    let pixel = drawn.position.xy - p.origin;
    let texel = footprint(pixel);
    if (texel.y > 0.0) {
        return vec4<f32>(colour(texel.x, drawn.ends), 1.0);
    }
    // Masked: transparent, so that the page's hatching shows through.
    return vec4<f32>(0.0);
}
