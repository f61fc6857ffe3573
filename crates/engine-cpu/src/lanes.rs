//! Eight f32 at a time: the exponential, and the loops over rows of scores.

use wide::{f32x8, i32x8};

/// Below every score. Its exponential is exactly 0.
pub const LOWEST: f32 = -3.0e38;

/// Numbers of one step.
pub const LANES: usize = 8;

/// eˣ within 2e-7 of it for −87 < x ≤ 0; exactly 0 below. Cody–Waite reduction and the polynomial
/// of Cephes' `expf`.
pub fn exp(x: f32x8) -> f32x8 {
    // Adding 1.5 · 2²³ rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = x * f32x8::splat(std::f32::consts::LOG2_E) + f32x8::splat(ROUND);
    let n = shifted - f32x8::splat(ROUND);
    let r = x - n * f32x8::splat(0.693_359_4) + n * f32x8::splat(2.121_944_4e-4);
    let mut p = f32x8::splat(1.987_569_1e-4);
    for c in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ] {
        p = p * r + f32x8::splat(c);
    }
    let mantissa = p * r * r + r + f32x8::splat(1.0);
    let bits: i32x8 =
        bytemuck::cast::<_, i32x8>(mantissa) + (bytemuck::cast::<_, i32x8>(shifted) << 23u32);
    bytemuck::cast::<_, f32x8>(bits) & x.simd_gt(f32x8::splat(-87.0))
}

/// The maximum; [`LOWEST`] for an empty slice.
#[inline(never)]
pub fn largest(of: &[f32]) -> f32 {
    let (chunks, rest) = of.as_chunks::<LANES>();
    let mut most = f32x8::splat(LOWEST);
    for chunk in chunks {
        most = most.fast_max(f32x8::new(*chunk));
    }
    most.to_array()
        .iter()
        .chain(rest)
        .fold(LOWEST, |a, &b| a.max(b))
}

/// Replaces every z by e^(z − top); returns their sum.
#[inline(never)]
pub fn exp_all(z: &mut [f32], top: f32) -> f32 {
    let top = f32x8::splat(top);
    let mut sum = f32x8::splat(0.0);
    each(z, &mut |z| {
        let e = exp(z - top);
        sum += e;
        e
    });
    sum.to_array().iter().sum()
}

/// Multiplies all by `factor`.
#[inline(never)]
pub fn scale(all: &mut [f32], factor: f32) {
    let factor = f32x8::splat(factor);
    each(all, &mut |x| x * factor);
}

/// Multiplies every number of `a` by (`b` + `shift`).
#[inline(never)]
pub fn multiply(a: &mut [f32], b: &[f32], shift: f32) {
    let (chunks, rest) = a.as_chunks_mut::<LANES>();
    let (others, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in chunks.iter_mut().zip(others) {
        *a = (f32x8::new(*a) * (f32x8::new(*b) + f32x8::splat(shift))).to_array();
    }
    for (a, b) in rest.iter_mut().zip(rest_b) {
        *a *= b + shift;
    }
}

/// Adds (`b` + `shift`) to every number of `a`; `b` and `shift` are added first.
#[inline(never)]
pub fn add(a: &mut [f32], b: &[f32], shift: f32) {
    let (chunks, rest) = a.as_chunks_mut::<LANES>();
    let (others, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in chunks.iter_mut().zip(others) {
        *a = (f32x8::new(*a) + (f32x8::new(*b) + f32x8::splat(shift))).to_array();
    }
    for (a, b) in rest.iter_mut().zip(rest_b) {
        *a += b + shift;
    }
}

/// Applies `act` to every number; the last group is padded with [`LOWEST`].
// `act` has two kinds, each inlined once: a call per eight numbers would cost more than the work.
#[allow(clippy::inline_always)]
#[inline(always)]
fn each(all: &mut [f32], act: &mut impl FnMut(f32x8) -> f32x8) {
    let (chunks, rest) = all.as_chunks_mut::<LANES>();
    for chunk in chunks {
        *chunk = act(f32x8::new(*chunk)).to_array();
    }
    if !rest.is_empty() {
        let mut filled = [LOWEST; LANES];
        filled[..rest.len()].copy_from_slice(rest);
        let done = act(f32x8::new(filled)).to_array();
        rest.copy_from_slice(&done[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_f64() {
        let mut worst = 0.0f64;
        for step in 0..2_000_000 {
            let x = -(step as f32) * 4.4e-5;
            let got = f64::from(exp(f32x8::splat(x)).to_array()[3]);
            let want = f64::from(x).exp();
            if x > -87.0 {
                worst = worst.max((got / want - 1.0).abs());
            } else {
                assert!(got.to_bits() == 0, "{x}: {got}");
            }
        }
        println!("largest relative error of exp: {worst:e}");
        assert!(worst < 2e-7, "{worst:e}");
        let ends = exp(f32x8::new([
            0.0, -1e4, LOWEST, -3.4e38, -86.9, -0.0, -100.0, -87.5,
        ]));
        assert_eq!(ends.to_array()[..4], [1.0, 0.0, 0.0, 0.0]);
        assert!(ends.to_array().iter().all(|e| e.is_finite()));
    }

    #[test]
    fn every_length_is_whole() {
        for len in 0..20 {
            let z: Vec<f32> = (0..len).map(|i| i as f32 * 0.5 - 3.0).collect();
            let top = largest(&z);
            let want: f64 = z.iter().map(|&z| f64::from(z - top).exp()).sum();
            let mut e = z.clone();
            let sum = exp_all(&mut e, top);
            assert!((f64::from(sum) - want).abs() < 1e-5, "{len}: {sum} {want}");
            scale(&mut e, 2.0);
            multiply(&mut e, &z, 0.5);
            add(&mut e, &z, -0.25);
            for (e, z) in e.iter().zip(&z) {
                assert!((e - (2.0 * (z - top).exp() * (z + 0.5) + z - 0.25)).abs() < 1e-5);
            }
        }
        assert!(largest(&[]) <= LOWEST);
    }
}
