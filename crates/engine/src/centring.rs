//! Subtracts the common part of all keys of a head before scores are rounded (SPEC 7). A vector c
//! that is subtracted from every key moves no softmax weight: q_i·c is the same for every key of
//! the row. Keys without c give scores whose rounding error is that of their differences. Where the
//! score itself matters, scale·q_i·c is added to it.

use std::ops::Range;

use attnscope_attention::layer::Linear;

/// Rows in the sample: any vector may be subtracted, so a sample of the keys is enough.
const SAMPLES: usize = 256;

/// How many bits finer the grid of [`common_row`] is than the spread of the numbers.
const GRID_BITS: i32 = 3;

/// The common part of the rows of `data`, `row` numbers each: about the mean of every column, on a
/// grid that is coarse enough for `x − c` to be exact wherever |x| is not much below the spread of
/// its column.
pub fn common_row(data: &[f32], row: usize) -> Vec<f32> {
    let rows = data.len() / row.max(1);
    let step = rows.div_ceil(SAMPLES).max(1);
    let sample = || data.chunks_exact(row.max(1)).step_by(step);
    let count = rows.div_ceil(step).max(1) as f64;
    let mut mean = vec![0.0f64; row];
    for numbers in sample() {
        for (sum, &x) in mean.iter_mut().zip(numbers) {
            *sum += f64::from(x) / count;
        }
    }
    let mut spread = vec![0.0f64; row];
    for numbers in sample() {
        for ((most, &x), mean) in spread.iter_mut().zip(numbers).zip(&mean) {
            *most = most.max((f64::from(x) - mean).abs());
        }
    }
    mean.iter()
        .zip(&spread)
        .map(|(&mean, &spread)| on_grid(mean, spread))
        .collect()
}

/// `mean` on a grid of 2⁻³ of `spread`, rounded down to a power of two.
fn on_grid(mean: f64, spread: f64) -> f32 {
    if spread <= 0.0 || !spread.is_normal() || !mean.is_finite() {
        return if mean.is_finite() { mean as f32 } else { 0.0 };
    }
    let grid = (spread.log2().floor() - f64::from(GRID_BITS)).exp2();
    ((mean / grid).round() * grid) as f32
}

/// The rows of `data` without `common`.
pub fn centred_rows(data: &[f32], common: &[f32]) -> Vec<f32> {
    let mut rows = data.to_vec();
    for row in rows.chunks_exact_mut(common.len().max(1)) {
        for (x, c) in row.iter_mut().zip(common) {
            *x -= c;
        }
    }
    rows
}

/// b + W·c for outputs `outs` of `linear`: the output for the common row as input, and the bias for
/// inputs without it.
pub fn common_output(linear: &Linear, common: &[f32], outs: Range<usize>) -> Vec<f32> {
    let width = common.len();
    outs.map(|out| {
        let weights = linear.weight.data.iter().skip(out * width).take(width);
        let sum: f64 = weights
            .zip(common)
            .map(|(&w, &c)| f64::from(w) * f64::from(c))
            .sum();
        let bias = linear.bias.as_ref().and_then(|b| b.data.get(out)).copied();
        (sum + f64::from(bias.unwrap_or(0.0))) as f32
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keys_share_is_taken_away_exactly() {
        let row = 3;
        let data: Vec<f32> = (0..300)
            .map(|at| match at % row {
                0 => 1.0e6 + (at % 7) as f32 * 0.25,
                1 => (at % 11) as f32 - 5.0,
                _ => 42.5,
            })
            .collect();
        let common = common_row(&data, row);
        assert!((common[0] - 1.0e6).abs() < 2.0, "{common:?}");
        assert!(common[1].abs() <= 1.0, "{common:?}");
        assert!((common[2] - 42.5).abs() < f32::EPSILON);
        for (x, (at, centred)) in data
            .iter()
            .zip(centred_rows(&data, &common).iter().enumerate())
        {
            let exact = f64::from(*x) - f64::from(common[at % row]);
            assert!((f64::from(*centred) - exact).abs() == 0.0);
        }
    }

    #[test]
    fn nothing_and_what_is_not_finite_have_nothing_in_common() {
        assert_eq!(common_row(&[], 2), [0.0, 0.0]);
        assert_eq!(common_row(&[f32::INFINITY, 1.0], 1), [0.0]);
        assert_eq!(common_row(&[7.0, 7.0], 1), [7.0]);
        assert_eq!(common_row(&[], 0), [0.0f32; 0]);
    }
}
