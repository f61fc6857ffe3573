// Finite arithmetic and order-preserving integers. Pure.

// Below every score; finite, because compilers may assume that infinity does not exist.
const LOWEST: f32 = -3.0e38;

fn max4(v: vec4<f32>) -> f32 {
    return max(max(v.x, v.y), max(v.z, v.w));
}

fn sum4(v: vec4<f32>) -> f32 {
    return dot(v, vec4<f32>(1.0));
}

// Unsigned integers with the order of the floats; never 0 for a finite float.
fn ordered(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if ((bits & 0x80000000u) != 0u) {
        return ~bits;
    }
    return bits | 0x80000000u;
}

fn unordered(u: u32) -> f32 {
    if ((u & 0x80000000u) != 0u) {
        return bitcast<f32>(u & 0x7fffffffu);
    }
    return bitcast<f32>(~u);
}

// Updates running maximum and sum of exp(z − maximum) with the visible ones of four more scores.
fn absorb(state: vec2<f32>, z: vec4<f32>, visible: vec4<bool>) -> vec2<f32> {
    let top = max(state.x, max4(select(vec4<f32>(LOWEST), z, visible)));
    let e = exp(select(vec4<f32>(LOWEST), z - vec4<f32>(top), visible));
    let kept = state.y * exp(state.x - top);
    return vec2<f32>(top, kept + sum4(select(vec4<f32>(0.0), e, visible)));
}
