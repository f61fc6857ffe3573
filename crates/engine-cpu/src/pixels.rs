//! Inner loops from cells to texels to pixels.

use std::ops::Range;

use wide::f32x8;

use crate::lanes::LANES;

/// Colours per table.
pub const STEPS: usize = 256;

/// The colour of a masked texel: transparent.
const MASKED: u32 = 0;

/// Smallest and largest of the values whose share is above 0.
#[inline(never)]
pub fn range(values: &[f32], shares: &[f32]) -> Option<(f32, f32)> {
    let [ends_least, ends_most] = [f32x8::splat(f32::MAX), f32x8::splat(f32::MIN)];
    let (mut least, mut most) = (ends_least, ends_most);
    eight(values, shares, |_, value, share| {
        let seen = share.simd_gt(f32x8::splat(0.0));
        least = least.fast_min(seen.select(value, ends_least));
        most = most.fast_max(seen.select(value, ends_most));
    });
    let least = least.to_array().into_iter().fold(f32::MAX, f32::min);
    let most = most.to_array().into_iter().fold(f32::MIN, f32::max);
    (least <= most).then_some((least, most))
}

/// Values and shares of the texels, eight at a time, with the index of the first; the last group is
/// padded with masked texels.
// Inlined once each: a call per eight texels would cost more than the work.
#[allow(clippy::inline_always)]
#[inline(always)]
fn eight(values: &[f32], shares: &[f32], mut act: impl FnMut(usize, f32x8, f32x8)) {
    let (all_values, rest_values) = values.as_chunks::<LANES>();
    let (all_shares, rest_shares) = shares.as_chunks::<LANES>();
    for (at, (value, share)) in all_values.iter().zip(all_shares).enumerate() {
        act(at * LANES, f32x8::new(*value), f32x8::new(*share));
    }
    let [mut value, mut share] = [[0.0; LANES]; 2];
    for (n, (v, s)) in rest_values.iter().zip(rest_shares).enumerate() {
        (value[n], share[n]) = (*v, *s);
    }
    if !rest_values.is_empty() {
        let at = values.len() - rest_values.len();
        act(at, f32x8::new(value), f32x8::new(share));
    }
}

/// Cells of one row, to be combined into texels.
pub struct Pooled<'a> {
    /// Values by key.
    pub cells: &'a [f32],
    /// Whether a key is visible; empty when all keys of the range are.
    pub seen: &'a [bool],
    /// First key of every texel, and the end.
    pub edges: &'a [usize],
    /// Take the mean instead of the largest by magnitude.
    pub mean: bool,
}

/// Adds the keys `range` to the values and counts of their texels.
#[inline(never)]
pub fn pool(row: &Pooled<'_>, range: Range<usize>, values: &mut [f32], counts: &mut [f32]) {
    let edges = row.edges;
    let first = edges.partition_point(|&edge| edge <= range.start).max(1) - 1;
    let texels = values[first..]
        .iter_mut()
        .zip(&mut counts[first..])
        .zip(edges[first..].windows(2));
    for ((value, count), edge) in texels {
        let own = range.start.max(edge[0])..range.end.min(edge[1]);
        if own.is_empty() {
            break;
        }
        if row.seen.is_empty() {
            *count += own.len() as f32;
            gather(value, row.cells[own].iter(), row.mean);
        } else {
            let cells = row.cells[own.clone()].iter().zip(&row.seen[own]);
            let seen = cells.filter_map(|(cell, seen)| seen.then_some(cell));
            *count += gather(value, seen, row.mean);
        }
    }
}

/// The sum, or the largest by magnitude, of `value` and the cells; returns the number of cells.
fn gather<'a>(value: &mut f32, cells: impl Iterator<Item = &'a f32>, mean: bool) -> f32 {
    let mut count = 0.0;
    if mean {
        for cell in cells {
            *value += cell;
            count += 1.0;
        }
    } else {
        let (mut least, mut most) = (*value, *value);
        for &cell in cells {
            least = least.min(cell);
            most = most.max(cell);
            count += 1.0;
        }
        // Of two with equal magnitude, the positive one.
        *value = if most >= -least { most } else { least };
    }
    count
}

/// A colour table between two values.
pub struct Scale<'a> {
    /// Opaque colours from the lowest to the highest value.
    pub table: &'a [u32; STEPS],
    /// Values of the first and the last colour.
    pub ends: (f32, f32),
    /// Whether the middle colour is 0, with magnitudes increasing both ways from it.
    pub signed: bool,
    /// How the table is spread over the magnitudes.
    pub curve: Curve,
}

/// How a share of the largest magnitude becomes a share of the colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Linear.
    Linear,
    /// Its square root.
    Sqrt,
    /// Its logarithm, from this share on; 0 below.
    Log(f32),
}

/// Ends that are no further apart count as one: all values between them count as 0.
const TINY: f32 = 1e-37;

impl Curve {
    #[inline]
    fn of(self, share: f32x8) -> f32x8 {
        match self {
            Self::Linear => share,
            Self::Sqrt => share.sqrt(),
            Self::Log(floor) => {
                let above = share.fast_max(f32x8::splat(floor));
                f32x8::splat(1.0) - above.ln() * f32x8::splat(floor.ln().recip())
            }
        }
    }
}

impl Scale<'_> {
    /// The table, followed by the colour of masked texels: every lookup is in range.
    fn full(&self) -> [u32; 2 * STEPS] {
        let mut all = [MASKED; 2 * STEPS];
        all[..STEPS].copy_from_slice(self.table);
        all
    }
}

/// The colour of every texel.
#[inline(never)]
pub fn color(scale: &Scale<'_>, values: &[f32], shares: &[f32], colors: &mut [u32]) {
    let splat = f32x8::splat;
    let colors = &mut colors[..values.len()];
    let table = scale.full();
    let (low, high) = scale.ends;
    let (lowest, reach) = (splat(low), splat(high - low));
    let wide = high - low > TINY;
    let (middle, zero, one) = (splat(low + high), splat(0.0), splat(1.0));
    let last = splat(STEPS as f32 - 1.0);
    let none = splat(STEPS as f32);
    eight(values, shares, |at, value, share| {
        let t = match scale.curve {
            // If the range has no extent, every value is 0.
            _ if !wide => splat(if scale.signed { 0.5 } else { 0.0 }),
            Curve::Linear => (value - lowest) / reach,
            curve if scale.signed => {
                let share = (value + value - middle) / reach;
                let size = curve.of(share.abs().fast_min(one));
                (size.copysign(share) + one) * splat(0.5)
            }
            curve => curve.of(((value - lowest) / reach).fast_max(zero).fast_min(one)),
        };
        let step = (t * none).fast_max(zero).fast_min(last);
        let place = share.simd_gt(zero).select(step, none);
        // From here on all are integer indices into the table.
        let place = place.fast_trunc_int().to_array();
        for (color, place) in colors[at..].iter_mut().zip(place) {
            *color = table[place as usize % (2 * STEPS)];
        }
    });
}

/// Every pixel of a row, from the colour of its texel.
#[inline(never)]
pub fn spread(colors: &[u32], columns: &[usize], pixels: &mut [u32]) {
    for (pixel, &column) in pixels.iter_mut().zip(columns) {
        *pixel = colors[column];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values and shares of every kind.
    fn texels(count: usize) -> (Vec<f32>, Vec<f32>) {
        let values = (0..count).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0);
        let shares = (0..count).map(|i| [1.0, 0.0, 0.25][i * 7 % 3]);
        (values.collect(), shares.collect())
    }

    #[test]
    fn ranges_and_colours_are_those_of_plain_loops() {
        let table: [u32; STEPS] = std::array::from_fn(|at| 0xff00_0000 + at as u32);
        for count in 0..35 {
            let (values, shares) = texels(count);
            let seen = || values.iter().zip(&shares).filter(|(_, s)| **s > 0.0);
            let least = seen().map(|(v, _)| *v).reduce(f32::min);
            let most = seen().map(|(v, _)| *v).reduce(f32::max);
            assert_eq!(range(&values, &shares), least.zip(most), "{count}");
            for ends in [(-1.0, 1.0), (0.0, 0.5), (0.25, 0.25)] {
                let scale = Scale {
                    table: &table,
                    ends,
                    signed: false,
                    curve: Curve::Linear,
                };
                let mut colors = vec![9; count + 3];
                color(&scale, &values, &shares, &mut colors);
                for (at, (value, share)) in values.iter().zip(&shares).enumerate() {
                    let t = ((value - ends.0) / (ends.1 - ends.0)).clamp(0.0, 1.0);
                    let t = if ends.1 > ends.0 { t } else { 0.0 };
                    let want = match share {
                        share if *share > 0.0 => table[((t * 256.0) as usize).min(255)],
                        _ => MASKED,
                    };
                    assert_eq!(colors[at], want, "{at} of {count} in {ends:?}");
                }
                assert_eq!(colors[count..], [9; 3], "nothing behind the last one");
            }
        }
    }

    /// The step of the table that shows `value`, in f64.
    fn wanted(value: f32, (low, high): (f32, f32), signed: bool, curve: Curve) -> f64 {
        let [value, low, high] = [value, low, high].map(f64::from);
        let scaled = |share: f64| match curve {
            Curve::Linear => share,
            Curve::Sqrt => share.sqrt(),
            Curve::Log(floor) => (1.0 - share.ln() / f64::from(floor).ln()).max(0.0),
        };
        let t = if high - low <= 1e-37 {
            if signed { 0.5 } else { 0.0 }
        } else if signed {
            let half = (high - low) / 2.0;
            let share = ((value - low.midpoint(high)) / half).clamp(-1.0, 1.0);
            0.5 + 0.5 * share.signum() * scaled(share.abs())
        } else {
            scaled(((value - low) / (high - low)).clamp(0.0, 1.0))
        };
        t * 256.0
    }

    #[test]
    fn every_curve_is_its_formula_up_to_the_ends_and_at_nothing() {
        let table: [u32; STEPS] = std::array::from_fn(|at| at as u32);
        let curves = [
            Curve::Linear,
            Curve::Sqrt,
            Curve::Log(1e-3),
            Curve::Log(0.1),
        ];
        let reaches = [1.0, 0.991, 1.0 / 24.0, 3e-7, 812.5, 1e-36, 1e-38, 0.0];
        for (curve, signed) in curves.into_iter().flat_map(|c| [(c, false), (c, true)]) {
            for reach in reaches {
                let ends = (if signed { -reach } else { 0.0 }, reach);
                let shares = (0..=1000).map(|at| at as f32 / 1000.0);
                let small = [1e-9, 1e-5, 0.000_999, 0.001_001, 0.099, 0.101, 1.5, 40.0];
                let up = shares.chain(small).map(|share| share * reach);
                let values: Vec<f32> = up.flat_map(|v| [v, -v]).chain([0.0, -0.0]).collect();
                let mut colors = vec![0; values.len()];
                let scale = Scale {
                    table: &table,
                    ends,
                    signed,
                    curve,
                };
                color(&scale, &values, &vec![1.0; values.len()], &mut colors);
                for (value, step) in values.iter().zip(colors) {
                    let want = wanted(*value, ends, signed, curve);
                    // A value at the border of two steps may have either.
                    let near = [want - 1e-3, want + 1e-3].map(|at| at.clamp(0.0, 255.0) as u32);
                    let what = format!("{value} of {reach}, {curve:?}, signed: {signed}");
                    assert!(near.contains(&step), "{what}: {step} for {want}");
                }
            }
        }
    }

    #[test]
    fn cells_become_the_largest_or_the_sum_of_those_that_are_seen() {
        let (cells, _) = texels(23);
        let seen: Vec<bool> = (0..23).map(|j| j % 3 != 1).collect();
        let edges = [2, 5, 6, 13, 21];
        for (mean, thinned) in [(false, false), (false, true), (true, false), (true, true)] {
            for range in [2..21, 4..12, 7..8, 9..9] {
                let row = Pooled {
                    cells: &cells,
                    seen: if thinned { &seen } else { &[] },
                    edges: &edges,
                    mean,
                };
                let (mut values, mut counts) = ([0.0; 4], [0.0; 4]);
                pool(&row, range.clone(), &mut values, &mut counts);
                for x in 0..4 {
                    let own = (edges[x]..edges[x + 1])
                        .filter(|j| range.contains(j) && (!thinned || seen[*j]));
                    let (mut value, mut count) = (0.0f32, 0.0);
                    for j in own {
                        count += 1.0;
                        let larger = cells[j].abs() > value.abs();
                        value = match (mean, larger) {
                            (true, _) => value + cells[j],
                            (false, true) => cells[j],
                            (false, false) => value,
                        };
                    }
                    assert!((values[x] - value).abs() < 1e-6, "{x} of {range:?}");
                    assert!((counts[x] - count).abs() < 1e-6, "{x} of {range:?}");
                }
            }
        }
    }
}
