//! Unit tensors of position biases P_K, P_V and the offset table of s: the numbers that an
//! amplitude scales. The same on every platform: ChaCha8, f64 and `libm` only, rounded to f32 at
//! the end.
//!
//! `rows` is 1 for a shared bias and L for one per position; the result is `[H, rows, d_h]` (SPEC
//! "Sizes and symbols"). A longer sequence starts with the random rows of a shorter one, so that
//! changing L does not change the picture of the tokens that stay.

use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::layer::{ScoreBias, Tensor};

/// The gain with which the CJAR text calls `xavier_normal_`.
pub const XAVIER_GAIN: f64 = 0.02;

/// A seeded stream of numbers, the same on every platform.
pub struct Numbers {
    rng: ChaCha8Rng,
    spare: Option<f64>,
}

impl Numbers {
    /// Stream `stream` of `seed`; streams of one seed are independent of each other.
    pub fn new(seed: u32, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(u64::from(seed));
        rng.set_stream(stream);
        Self { rng, spare: None }
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box–Muller, both numbers of a pair are used).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 − u is in (0, 1]: the logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        let (sin, cos) = libm::sincos(TAU * self.uniform());
        self.spare = Some(radius * sin);
        radius * cos
    }
}

/// Standard normal numbers, like `torch.randn` in the CJAR listing (the values differ: another
/// generator).
pub fn normal(heads: usize, rows: usize, head_dim: usize, seed: u32) -> Tensor {
    by_head(heads, rows, head_dim, |head| {
        let mut numbers = Numbers::new(seed, head as u64);
        move |_, _| numbers.normal()
    })
}

/// Standard normal numbers for a dense s, `[H, L, L]`, from other streams than [`normal`] uses.
pub fn dense(heads: usize, seq_len: usize, seed: u32) -> Tensor {
    by_head(heads, seq_len, seq_len, |head| {
        let mut numbers = Numbers::new(seed, (1 << 32) + head as u64);
        move |_, _| numbers.normal()
    })
}

/// Xavier normal with gain [`XAVIER_GAIN`]: the numbers of [`normal`] times [`xavier_deviation`].
pub fn xavier(heads: usize, rows: usize, head_dim: usize, seed: u32) -> Tensor {
    let deviation = xavier_deviation(heads, rows, head_dim);
    by_head(heads, rows, head_dim, |head| {
        let mut numbers = Numbers::new(seed, head as u64);
        move |_, _| deviation * numbers.normal()
    })
}

/// The standard deviation `gain · √(2 / (fan_in + fan_out))` of PyTorch's `xavier_normal_` for the
/// shape that the CJAR files give their biases, `[1, H, rows, d_h]`: fan_in is the second axis times
/// everything after it, `H · rows · d_h`, and fan_out the first axis times the same, `rows · d_h`.
pub fn xavier_deviation(heads: usize, rows: usize, head_dim: usize) -> f64 {
    let fans = (heads + 1) as f64 * rows as f64 * head_dim as f64;
    XAVIER_GAIN * libm::sqrt(2.0 / fans.max(1.0))
}

/// Sines and cosines of the position (Vaswani et al. 2017), over the width of a head and alike in
/// all heads: dimensions 2m and 2m + 1 are sin and cos of `position / 10000^(2m/d_h)`. A shared
/// bias is the row of position 0.
pub fn sinusoidal(heads: usize, rows: usize, head_dim: usize) -> Tensor {
    let rates: Vec<f64> = (0..head_dim)
        .map(|dim| libm::pow(10_000.0, -((dim - dim % 2) as f64) / head_dim as f64))
        .collect();
    by_head(heads, rows, head_dim, |_| {
        |row: usize, dim: usize| {
            let angle = row as f64 * rates[dim];
            if dim.is_multiple_of(2) {
                libm::sin(angle)
            } else {
                libm::cos(angle)
            }
        }
    })
}

/// One dimension of every head is 1, the others are 0. Per position, row j has its 1 in dimension
/// `(hot + j) mod d_h`: with the same dimension in every row P_K would be shared and have no
/// effect.
pub fn one_hot(heads: usize, rows: usize, head_dim: usize, hot: u32) -> Tensor {
    by_head(heads, rows, head_dim, |_| {
        move |row: usize, dim: usize| {
            // hot < 2³² and row < L: the sum fits in u64 on every platform.
            let at = (u64::from(hot) + row as u64) % head_dim as u64;
            f64::from(u8::from(at == dim as u64))
        }
    })
}

/// Builds `[H, rows, d_h]` from one function (row, dimension) → number per head, called in order.
fn by_head<F>(
    heads: usize,
    rows: usize,
    head_dim: usize,
    mut head_numbers: impl FnMut(usize) -> F,
) -> Tensor
where
    F: FnMut(usize, usize) -> f64,
{
    let mut data = Vec::with_capacity(heads * rows * head_dim);
    for head in 0..heads {
        let mut number = head_numbers(head);
        for row in 0..rows {
            for dim in 0..head_dim {
                data.push(number(row, dim) as f32);
            }
        }
    }
    Tensor {
        shape: vec![heads, rows, head_dim],
        data: data.into(),
    }
}

/// `s` over the offsets −(L−1) ..= L−1 of a sequence of `seq_len` tokens. The largest entry is
/// subtracted from all entries.
pub fn offset_curve(seq_len: usize, s: impl Fn(f64) -> f64) -> ScoreBias {
    let last = seq_len.saturating_sub(1) as i64;
    let numbers: Vec<f64> = (-last..=last).map(|offset| s(offset as f64)).collect();
    let common = numbers.iter().copied().fold(f64::MIN, f64::max);
    ScoreBias::Curve {
        table: numbers.iter().map(|s| (s - common) as f32).collect(),
        common,
    }
}
