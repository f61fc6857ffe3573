//! Seeded layers of any length with a structure that is visible in the map. q, k and v are given
//! directly, 4 heads of width 32. The same seed gives the same numbers on every platform (ChaCha8,
//! f64 and `libm` only); the cost is O(L·d).

use std::f64::consts::TAU;

use attnscope_attention::bias::Numbers;
use attnscope_attention::layer::{Input, Layer, Linear, Output, Tensor};
use attnscope_scene::Pattern;

/// H of every synthetic layer.
pub const HEADS: usize = 4;
/// d_h of every synthetic layer.
pub const HEAD_DIM: usize = 32;
/// d of every synthetic layer.
pub const MODEL_DIM: usize = HEADS * HEAD_DIM;
/// Length of the token list that [`Pattern::Repeated`] repeats.
pub const REPEATED_TOKENS: usize = 8;

/// Pairs of sine and cosine in a head.
const WAVES: usize = HEAD_DIM / 2;
/// Factor of the queries: with unit normal keys a match scores 2·32/√32 ≈ 11 against noise of
/// standard deviation 2, which stands out among thousands of keys.
const SHARPNESS: f64 = 2.0;
/// Reach of the heads of [`Pattern::Local`] in tokens: the kernel's standard deviation.
const REACH: [f64; HEADS] = [1.5, 3.0, 6.0, 12.0];
/// Where the heads of [`Pattern::LongRange`] look: this many L-ths to the right, wrapping around.
const FAR: [(usize, usize); HEADS] = [(1, 2), (1, 3), (1, 4), (3, 4)];
/// Where the heads of [`Pattern::Repeated`] look: at the token this many places further in the
/// list, at every repetition.
const NEXT: [usize; HEADS] = [0, 1, REPEATED_TOKENS - 1, 2];

/// A layer and its tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// Sizes H = [`HEADS`], d_h = [`HEAD_DIM`]; q, k, v given; W_O without b_O.
    pub layer: Layer,
    /// L labels.
    pub tokens: Vec<String>,
}

/// The layer of `pattern` with `seq_len` tokens (at least one). `id` is its cache key (see
/// [`Layer::id`]); nothing else depends on it.
pub fn synthetic(pattern: Pattern, seq_len: usize, seed: u32, id: u64) -> Synthetic {
    let seq_len = seq_len.max(1);
    // One stream of numbers for each tensor: none depends on how many numbers another one draws.
    let stream = |at: u64| Numbers::new(seed, 1000 * (pattern as u64 + 1) + at);
    let (q, k) = match pattern {
        Pattern::Random => {
            let tensor = |at| normal_rows(&mut stream(at), HEADS * seq_len);
            (tensor(0), tensor(1))
        }
        Pattern::Repeated => repeated(seq_len, &mut stream(0), &mut stream(1)),
        Pattern::Local => local(seq_len, &mut stream(0)),
        Pattern::LongRange => long_range(seq_len, &mut stream(0)),
    };
    let v = normal_rows(&mut stream(2), HEADS * seq_len);
    let heads = |data: Vec<f32>| Tensor {
        shape: vec![HEADS, seq_len, HEAD_DIM],
        data: data.into(),
    };
    Synthetic {
        layer: Layer {
            id,
            heads: HEADS,
            seq_len,
            head_dim: HEAD_DIM,
            input: Input::Heads {
                q: heads(q),
                k: heads(k),
                v: heads(v),
            },
            output: Output::Full(Linear {
                weight: out_weight(&mut stream(3)),
                bias: None,
            }),
            mask: None,
            preview_of: None,
        },
        tokens: tokens(pattern, seq_len),
    }
}

/// Labels: letters of the repeated list, numbers otherwise.
fn tokens(pattern: Pattern, seq_len: usize) -> Vec<String> {
    (0..seq_len)
        .map(|at| match pattern {
            Pattern::Repeated => char::from(b'a' + (at % REPEATED_TOKENS) as u8).to_string(),
            _ => at.to_string(),
        })
        .collect()
}

/// `rows` rows of d_h standard normal numbers.
fn normal_rows(numbers: &mut Numbers, rows: usize) -> Vec<f32> {
    (0..rows * HEAD_DIM)
        .map(|_| numbers.normal() as f32)
        .collect()
}

/// Tokens of a short list, each with its own vector and a little noise: a query finds its token, or
/// the one [`NEXT`] to it, at every repetition. Stripes every [`REPEATED_TOKENS`] keys.
fn repeated(seq_len: usize, list: &mut Numbers, noise: &mut Numbers) -> (Vec<f32>, Vec<f32>) {
    let mut q = Vec::with_capacity(HEADS * seq_len * HEAD_DIM);
    let mut k = Vec::with_capacity(HEADS * seq_len * HEAD_DIM);
    for next in NEXT {
        let words: Vec<[f64; HEAD_DIM]> = (0..REPEATED_TOKENS)
            .map(|_| std::array::from_fn(|_| list.normal()))
            .collect();
        for at in 0..seq_len {
            let own = &words[at % REPEATED_TOKENS];
            let wanted = &words[(at + next) % REPEATED_TOKENS];
            for dim in 0..HEAD_DIM {
                q.push((SHARPNESS * wanted[dim]) as f32);
                k.push((own[dim] + 0.2 * noise.normal()) as f32);
            }
        }
    }
    (q, k)
}

/// Random Fourier features: q_i·k_j is a sum of cosines of (i − j) with normal frequencies, a
/// Gaussian bell over the offset with the head's [`REACH`] as its width. A band along the diagonal.
fn local(seq_len: usize, numbers: &mut Numbers) -> (Vec<f32>, Vec<f32>) {
    let mut k = Vec::with_capacity(HEADS * seq_len * HEAD_DIM);
    for reach in REACH {
        let waves: [(f64, f64); WAVES] =
            std::array::from_fn(|_| (numbers.normal() / reach, TAU * numbers.uniform()));
        for at in 0..seq_len {
            for (rate, phase) in waves {
                let angle = rate * at as f64 + phase;
                // √2 gives every key the norm √d_h, like normal numbers.
                k.push((std::f64::consts::SQRT_2 * libm::cos(angle)) as f32);
                k.push((std::f64::consts::SQRT_2 * libm::sin(angle)) as f32);
            }
        }
    }
    let q = k
        .iter()
        .map(|&x| (SHARPNESS * f64::from(x)) as f32)
        .collect();
    (q, k)
}

/// Every token has its own vector, and every query has the vector of a token [`FAR`] away: a line
/// off the diagonal.
fn long_range(seq_len: usize, numbers: &mut Numbers) -> (Vec<f32>, Vec<f32>) {
    let k = normal_rows(numbers, HEADS * seq_len);
    let mut q = Vec::with_capacity(k.len());
    for (head, keys) in k.chunks_exact(seq_len * HEAD_DIM).enumerate() {
        for at in 0..seq_len {
            let target = (at + far(head, seq_len)) % seq_len;
            let wanted = &keys[target * HEAD_DIM..(target + 1) * HEAD_DIM];
            q.extend(wanted.iter().map(|&x| (SHARPNESS * f64::from(x)) as f32));
        }
    }
    (q, k)
}

/// How many tokens to the right (wrapping around) head `head` of a long-range layer looks.
pub fn far(head: usize, seq_len: usize) -> usize {
    let (part, of) = FAR[head % HEADS];
    seq_len * part / of
}

/// W_O `[d, d]` = U diag(σ) Vᵀ with σ_c = e^(−4c/d): products of reflections are orthogonal, so the
/// singular values are exactly these, and half of the ranks hold most of the energy.
fn out_weight(numbers: &mut Numbers) -> Tensor {
    const REFLECTIONS: usize = 8;
    let mut w = vec![0.0; MODEL_DIM * MODEL_DIM];
    for c in 0..MODEL_DIM {
        w[c * MODEL_DIM + c] = libm::exp(-4.0 * c as f64 / MODEL_DIM as f64);
    }
    for side in [Side::Rows, Side::Columns] {
        for _ in 0..REFLECTIONS {
            let normal: Vec<f64> = (0..MODEL_DIM).map(|_| numbers.normal()).collect();
            reflect(&mut w, &normal, side);
        }
    }
    let data: Vec<f32> = w.into_iter().map(|x| x as f32).collect();
    Tensor {
        shape: vec![MODEL_DIM, MODEL_DIM],
        data: data.into(),
    }
}

#[derive(Clone, Copy)]
enum Side {
    Rows,
    Columns,
}

/// Householder reflection of the rows or the columns of `w` `[d, d]` at the plane across `normal`.
fn reflect(w: &mut [f64], normal: &[f64], side: Side) {
    let square: f64 = normal.iter().map(|x| x * x).sum();
    let index = |line: usize, at: usize| match side {
        Side::Rows => line * MODEL_DIM + at,
        Side::Columns => at * MODEL_DIM + line,
    };
    for line in 0..MODEL_DIM {
        let dot: f64 = (0..MODEL_DIM)
            .map(|at| w[index(line, at)] * normal[at])
            .sum();
        let factor = 2.0 * dot / square;
        for at in 0..MODEL_DIM {
            w[index(line, at)] -= factor * normal[at];
        }
    }
}
