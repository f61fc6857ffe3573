//! Synthetic layers: the same numbers on every platform, and a structure that the weights show.
#![allow(clippy::unwrap_used)]

use attnscope_attention::layer::{Input, Layer, Output};
use attnscope_data::synthetic::{
    HEAD_DIM, HEADS, MODEL_DIM, REPEATED_TOKENS, Synthetic, far, synthetic,
};
use attnscope_scene::Pattern;
use nalgebra::DMatrix;

const PATTERNS: [Pattern; 4] = [
    Pattern::Random,
    Pattern::Repeated,
    Pattern::Local,
    Pattern::LongRange,
];

/// Softmax weights `[L, L]` of one head, row-major, with SPEC's scale 1/√d_h.
fn weights(layer: &Layer, head: usize) -> Vec<Vec<f64>> {
    let Input::Heads { q, k, .. } = &layer.input else {
        panic!("synthetic layers give q, k, v");
    };
    let row = |data: &[f32], i: usize| -> Vec<f64> {
        data[i * HEAD_DIM..(i + 1) * HEAD_DIM]
            .iter()
            .map(|&x| f64::from(x))
            .collect()
    };
    (0..layer.seq_len)
        .map(|i| {
            let query = row(q.outer(head), i);
            let scores: Vec<f64> = (0..layer.seq_len)
                .map(|j| {
                    let key = row(k.outer(head), j);
                    let dot: f64 = query.iter().zip(&key).map(|(a, b)| a * b).sum();
                    dot / (HEAD_DIM as f64).sqrt()
                })
                .collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let exps: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let sum: f64 = exps.iter().sum();
            exps.iter().map(|e| e / sum).collect()
        })
        .collect()
}

/// Mean over the rows of the weight on keys that `wanted` selects.
fn mean_on(weights: &[Vec<f64>], wanted: impl Fn(usize, usize) -> bool) -> f64 {
    let sum: f64 = weights
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &a)| (i, j, a)))
        .filter(|&(i, j, _)| wanted(i, j))
        .map(|(.., a)| a)
        .sum();
    sum / weights.len() as f64
}

#[test]
fn sizes_and_labels_fit() {
    for pattern in PATTERNS {
        for seq_len in [1, 2, 9, 64] {
            let Synthetic { layer, tokens } = synthetic(pattern, seq_len, 1, 7);
            assert_eq!((layer.id, layer.heads, layer.seq_len), (7, HEADS, seq_len));
            assert_eq!(tokens.len(), seq_len);
            let Input::Heads { q, k, v } = &layer.input else {
                panic!("synthetic layers give q, k, v");
            };
            for tensor in [q, k, v] {
                assert_eq!(tensor.shape, [HEADS, seq_len, HEAD_DIM]);
                assert_eq!(tensor.data.len(), HEADS * seq_len * HEAD_DIM);
                assert!(tensor.data.iter().all(|x| x.is_finite()));
            }
        }
    }
}

#[test]
fn repeated_tokens_find_each_other() {
    for seq_len in [64, 200] {
        let Synthetic { layer, tokens } = synthetic(Pattern::Repeated, seq_len, 1, 0);
        for (head, next) in [(0, 0), (1, 1), (2, REPEATED_TOKENS - 1), (3, 2)] {
            let a = weights(&layer, head);
            let on = mean_on(&a, |i, j| {
                (i + next) % REPEATED_TOKENS == j % REPEATED_TOKENS
            });
            assert!(on > 0.8, "L {seq_len} head {head}: {on} on the stripes");
        }
        assert_eq!(tokens[1], tokens[1 + REPEATED_TOKENS]);
    }
}

#[test]
fn neighbours_see_each_other() {
    for seq_len in [64, 200] {
        let layer = synthetic(Pattern::Local, seq_len, 1, 0).layer;
        for (head, reach) in [(0, 3), (1, 6), (2, 12), (3, 24)] {
            let on = mean_on(&weights(&layer, head), |i, j| i.abs_diff(j) <= reach);
            assert!(on > 0.6, "L {seq_len} head {head}: {on} in the band");
        }
    }
}

#[test]
fn far_tokens_find_each_other() {
    for seq_len in [64, 200] {
        let layer = synthetic(Pattern::LongRange, seq_len, 1, 0).layer;
        for head in 0..HEADS {
            let offset = far(head, seq_len);
            assert!(offset >= seq_len / 4);
            let a = weights(&layer, head);
            let on = mean_on(&a, |i, j| j == (i + offset) % seq_len);
            assert!(on > 0.6, "L {seq_len} head {head}: {on} on the line");
        }
    }
}

#[test]
fn random_weights_have_no_structure() {
    let a = weights(&synthetic(Pattern::Random, 256, 1, 0).layer, 0);
    let near = mean_on(&a, |i, j| i.abs_diff(j) <= 3);
    let stripes = mean_on(&a, |i, j| i % REPEATED_TOKENS == j % REPEATED_TOKENS);
    assert!(
        near < 0.05 && (stripes - 0.125).abs() < 0.02,
        "{near} {stripes}"
    );
}

#[test]
fn the_output_projection_decays_as_said() {
    let Output::Full(w_o) = synthetic(Pattern::Random, 1, 1, 0).layer.output else {
        panic!("synthetic layers have a full W_O");
    };
    let data: Vec<f64> = w_o.weight.data.iter().map(|&x| f64::from(x)).collect();
    let w = DMatrix::from_row_slice(MODEL_DIM, MODEL_DIM, &data);
    let mut sigma: Vec<f64> = w.singular_values().iter().copied().collect();
    sigma.sort_by(|a, b| b.total_cmp(a));
    for (c, got) in sigma.iter().enumerate() {
        let want = (-4.0 * c as f64 / MODEL_DIM as f64).exp();
        assert!((got - want).abs() < 1e-6, "σ_{c} {got} ≠ {want}");
    }
    // A diagonal matrix would have the same spectrum but nothing to see.
    assert!(w.iter().filter(|x| x.abs() > 1e-3).count() > MODEL_DIM * MODEL_DIM / 2);
}

/// FNV-1a over the bits of every number of a layer.
fn checksum(layer: &Layer) -> u64 {
    let Input::Heads { q, k, v } = &layer.input else {
        panic!("synthetic layers give q, k, v");
    };
    let Output::Full(w_o) = &layer.output else {
        panic!("synthetic layers have a full W_O");
    };
    [q, k, v, &w_o.weight]
        .iter()
        .flat_map(|tensor| tensor.data.iter())
        .flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[test]
fn the_same_seed_is_the_same_layer_on_every_platform() {
    let got = PATTERNS.map(|pattern| checksum(&synthetic(pattern, 64, 1, 0).layer));
    assert_eq!(got, CHECKSUMS, "{got:#x?}");
    let other = PATTERNS.map(|pattern| checksum(&synthetic(pattern, 64, 2, 0).layer));
    assert!(got.iter().zip(&other).all(|(a, b)| a != b));
}

/// For 64 tokens and seed 1. A link with a synthetic source promises these numbers.
const CHECKSUMS: [u64; 4] = [
    0x4819_5c69_ecef_c14b,
    0x70fb_861b_9498_07d2,
    0x0e11_2c54_fd37_0234,
    0x15ec_0841_9747_7914,
];
