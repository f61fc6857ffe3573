//! Facts of a real head and of hand-made ones.
// Exact comparisons compare bits.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use std::fs;

use attnscope_attention::config::Config;
use attnscope_attention::config::Reading;
use attnscope_attention::layer::Biases;
use attnscope_attention::layer::Layer;
use attnscope_attention::layer::{Input, Output, PositionBias, ScoreBias, Tensor, fresh_id};
use attnscope_attention::reference::Head;
use attnscope_attention::summary::*;
use attnscope_attention::visibility::Visibility;
use attnscope_data::{folder, minilm};

/// Two tokens of width 1: scores q_i·k_j.
fn tiny(q: [f32; 2], k: [f32; 2]) -> Layer {
    let tensor = |data: [f32; 2]| Tensor::new(&[1, 2, 1], data.to_vec()).unwrap();
    Layer {
        id: fresh_id(),
        heads: 1,
        seq_len: 2,
        head_dim: 1,
        input: Input::Heads {
            q: tensor(q),
            k: tensor(k),
            v: tensor([1.0, 1.0]),
        },
        output: Output::Identity,
        mask: None,
        preview_of: None,
    }
}

fn first() -> Layer {
    let bytes = fs::read(folder::shipped().join("first.safetensors")).unwrap();
    minilm::first(&bytes).unwrap().layer
}

#[test]
fn the_first_picture_is_a_head_in_which_something_can_be_seen() {
    let found = summarize(&first(), &Config::full(32), &Biases::default(), 0).unwrap();
    assert_eq!((found.visible_min, found.visible_max), (24, 24));
    assert_eq!((found.empty_rows, found.lost, found.moved), (0, None, 0.0));
    assert!((found.row_sum.0 - 1.0).abs() < 1e-12 && (found.row_sum.1 - 1.0).abs() < 1e-12);
    // A next-token head.
    let (offset, mean) = found.offset.unwrap();
    assert_eq!(offset, 1);
    assert!(mean > 0.3, "{mean}");
    // The rows that do so most.
    let map = Head::new(&first(), &Config::full(32), &Biases::default(), 0)
        .unwrap()
        .map()
        .weights;
    let most = |rows: std::ops::Range<usize>, of: &dyn Fn(usize) -> f64| {
        rows.max_by(|&a, &b| of(a).total_cmp(&of(b)))
    };
    let next = |i: usize| map[i * 24 + i + 1];
    assert_eq!(found.offset_row, most(0..23, &next));
    let (key, _) = found.favourite.unwrap();
    assert_eq!(found.favourite_row, most(0..24, &|i| map[i * 24 + key]));
    assert!(found.entropy.unwrap() < 24f64.log2());
}

#[test]
fn lost_weight_of_a_real_head_is_what_full_attention_had_there() {
    let layer = first();
    let config = Config {
        visibility: Visibility {
            left: Some(2),
            right: Some(2),
            ..Visibility::default()
        },
        ..Config::full(32)
    };
    let found = summarize(&layer, &config, &Biases::default(), 0).unwrap();
    let lost = found.lost.unwrap();
    let full = Head::new(&layer, &Config::full(32), &Biases::default(), 0)
        .unwrap()
        .map()
        .weights;
    let outside = |i: usize| -> f64 {
        (0..24)
            .filter(|&j| i.abs_diff(j) > 2)
            .map(|j| full[i * 24 + j])
            .sum()
    };
    let worst = (0..24)
        .max_by(|&a, &b| outside(a).total_cmp(&outside(b)))
        .unwrap();
    assert_eq!(lost.row, worst);
    assert!((lost.share - outside(worst)).abs() < 1e-12);
    let mean = (0..24).map(outside).sum::<f64>() / 24.0;
    assert!((lost.mean - mean).abs() < 1e-12);
    assert!((lost.key_share - full[worst * 24 + lost.key]).abs() < 1e-12);
    assert!(lost.key.abs_diff(worst) > 2);
    assert_eq!((found.visible_min, found.visible_max), (3, 5));
    assert!((found.visible_mean - 114.0 / 24.0).abs() < 1e-12);
}

#[test]
fn the_row_that_is_asked_about_is_told_of() {
    let window = Config {
        visibility: Visibility {
            left: Some(2),
            right: Some(2),
            ..Visibility::default()
        },
        ..Config::full(32)
    };
    let head = Head::new(&first(), &window, &Biases::default(), 0).unwrap();
    let told = |asked| summarize_head(&head, asked).unwrap().lost.unwrap();
    let worst = told(None);
    for row in 0..24 {
        let lost = told(Some(row));
        assert_eq!((lost.row, lost.mean), (row, worst.mean));
        assert!(lost.share <= worst.share);
    }
    assert_eq!(told(Some(worst.row)), worst);
    assert_eq!(told(Some(24)), worst);
}

#[test]
fn what_a_window_takes_away_is_what_the_reading_gives() {
    let layer = first();
    let s = (0..47).map(|o| -0.3 * f32::abs(o as f32 - 23.0)).collect();
    let biases = Biases {
        s: Some(ScoreBias::Curve {
            table: s,
            common: 0.0,
        }),
        ..Biases::default()
    };
    let mut config = Config {
        reading: Reading::Bias,
        visibility: Visibility {
            left: Some(2),
            right: Some(2),
            ..Visibility::default()
        },
        ..Config::full(32)
    };
    let lost = summarize(&layer, &config, &biases, 0)
        .unwrap()
        .lost
        .unwrap();
    let open = Config {
        visibility: Visibility::default(),
        ..config.clone()
    };
    let full = Head::new(&layer, &open, &biases, 0).unwrap().map().weights;
    let outside: f64 = (0..24)
        .filter(|&j: &usize| j.abs_diff(lost.row) > 2)
        .map(|j| full[lost.row * 24 + j])
        .sum();
    assert!((lost.share - outside).abs() < 1e-12);
    let plain = summarize(&layer, &config, &Biases::default(), 0).unwrap();
    assert!((plain.lost.unwrap().mean - lost.mean).abs() > 0.05);
    config.reading = Reading::Product;
    assert_eq!(summarize(&layer, &config, &biases, 0).unwrap().lost, None);
}

#[test]
fn worked_by_hand() {
    // Scores: row 0 has ln 3 and 0 → weights ¾ and ¼; row 1 has 0 and 0 → ½ and ½.
    let layer = tiny([3f32.ln(), 0.0], [1.0, 0.0]);
    let found = summarize(&layer, &Config::full(1), &Biases::default(), 0).unwrap();
    let (i, j, weight) = found.strongest.unwrap();
    assert!((i, j) == (0, 0) && (weight - 0.75).abs() < 1e-7);
    let (key, mean) = found.favourite.unwrap();
    assert!(key == 0 && (mean - 0.625).abs() < 1e-7);
    // Offsets: −1 has ½, 0 has (¾ + ½)/2, +1 has ¼.
    let (offset, mean) = found.offset.unwrap();
    assert!(offset == 0 && (mean - 0.625).abs() < 1e-7);
    assert_eq!((found.favourite_row, found.offset_row), (Some(0), Some(0)));
    let bits = (0.75 * (4.0f64 / 3.0).log2() + 0.25 * 2.0 + 1.0) / 2.0;
    assert!((found.entropy.unwrap() - bits).abs() < 1e-7);
}

#[test]
fn signed_weights_and_empty_rows() {
    let layer = tiny([1.0, 1.0], [2.0, -6.0]);
    let config = Config {
        reading: Reading::Product,
        ..Config::full(1)
    };
    // s is missing: every key counts half. Weights 1 and −3 in both rows.
    let found = summarize(&layer, &config, &Biases::default(), 0).unwrap();
    assert_eq!(found.strongest, Some((0, 1, -3.0)));
    assert_eq!((found.negative, found.row_sum), (0.5, (-2.0, -2.0)));
    assert_eq!(found.entropy, None);
    let past = Config {
        visibility: Visibility {
            right: Some(-1),
            ..Visibility::default()
        },
        ..Config::full(1)
    };
    let found = summarize(&layer, &past, &Biases::default(), 0).unwrap();
    assert_eq!(
        (found.empty_rows, found.visible_min, found.visible_max),
        (1, 0, 1)
    );
    assert_eq!(found.row_sum, (1.0, 1.0));
    // Row 0 loses all its weight.
    let lost = found.lost.unwrap();
    assert!(lost.row == 0 && (lost.share - 1.0).abs() < 1e-12);
}

#[test]
fn moved_is_what_the_biases_do() {
    let layer = tiny([3f32.ln(), 0.0], [1.0, 0.0]);
    let shared = Biases {
        p_k: Some(PositionBias {
            unit: Tensor::new(&[1, 1, 1], vec![5.0]).unwrap(),
            amplitude: 1.0,
        }),
        ..Biases::default()
    };
    let config = Config::full(1);
    assert!(summarize(&layer, &config, &shared, 0).unwrap().moved < 1e-12);
    // s: row 1 gets ln 3 on key 0, ½ becomes ¾; the softmax reading ignores it.
    let s = Biases {
        s: Some(ScoreBias::Curve {
            table: [3f32.ln(), 0.0, 0.0].into(),
            common: 0.0,
        }),
        ..Biases::default()
    };
    assert_eq!(summarize(&layer, &config, &s, 0).unwrap().moved, 0.0);
    let config = Config {
        reading: Reading::Bias,
        ..config
    };
    let found = summarize(&layer, &config, &s, 0).unwrap();
    assert!((found.moved - 0.25).abs() < 1e-7, "{}", found.moved);
    assert_eq!(found.moved_at.map(|(row, _)| row), Some(1));
}
