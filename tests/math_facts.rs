//! SPEC 5 as tests of the f64 reference, on a real layer and on random ones.
// Where two numbers are compared exactly they must be the same bits.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use std::fs;
use std::sync::{Arc, LazyLock};

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::config::{Config, Reading};
use attnscope_attention::layer::{
    Biases, Input, Layer, Linear, Output, PositionBias, ScoreBias, Tensor, fresh_id,
};
use attnscope_attention::low_rank::{
    energy_kept, factor_output, out_factors, output_error, score_factors,
};
use attnscope_attention::output::{component_energies, head_outputs, layer_output};
use attnscope_attention::reference::Head;
use attnscope_attention::visibility::Visibility;
use attnscope_data::{folder, minilm};
use attnscope_scene::Passage;
use proptest::prelude::*;

/// Layer 1 of MiniLM on *sentence*.
static SENTENCE: LazyLock<Layer> = LazyLock::new(|| {
    let files = minilm::files(Passage::Sentence, 1);
    let read = |name: &str| fs::read(folder::shipped().join("..").join(name)).unwrap();
    let (x, qk, vo) = (read(&files.hidden), read(&files.qk), read(&files.vo));
    minilm::assemble(1, &x, &qk, &vo).unwrap().layer
});

fn full() -> Config {
    Config::full(minilm::HEAD_DIM)
}

fn distance(w: i32) -> Visibility {
    Visibility {
        left: Some(w),
        right: Some(w),
        ..Visibility::default()
    }
}

fn weights(layer: &Layer, config: &Config, biases: &Biases) -> Vec<f64> {
    (0..layer.heads)
        .flat_map(|head| {
            Head::new(layer, config, biases, head)
                .unwrap()
                .map()
                .weights
        })
        .collect()
}

/// Numbers of a fixed pattern without structure, in −1 ..= 1.
fn noise(shape: &[usize], seed: usize) -> Tensor {
    let n = shape.iter().product();
    let data: Vec<f32> = (0..n)
        .map(|at| ((at * 7919 + seed * 104_729) % 2003) as f32 / 1001.0 - 1.0)
        .collect();
    Tensor::new(shape, data).unwrap()
}

fn position(shape: &[usize], seed: usize) -> PositionBias {
    PositionBias {
        unit: noise(shape, seed),
        amplitude: 0.7,
    }
}

fn largest_change(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn a_window_over_everything_is_full_attention() {
    let whole = weights(&SENTENCE, &full(), &Biases::default());
    for (w, same) in [(23, true), (40, true), (22, false)] {
        let config = Config {
            visibility: distance(w),
            ..full()
        };
        // Exactly: not one bit.
        assert_eq!(
            weights(&SENTENCE, &config, &Biases::default()) == whole,
            same
        );
    }
}

#[test]
fn a_shared_key_bias_moves_no_softmax_weight() {
    let whole = weights(&SENTENCE, &full(), &Biases::default());
    let shared = Biases {
        p_k: Some(position(&[12, 1, 32], 1)),
        ..Biases::default()
    };
    let moved = weights(&SENTENCE, &full(), &shared);
    compare("shared P_K", &moved, &whole, Tolerance::DOUBLE).assert();
    // Per position it does, and in the product reading even a shared one does.
    let each = Biases {
        p_k: Some(position(&[12, 24, 32], 1)),
        ..Biases::default()
    };
    assert!(largest_change(&weights(&SENTENCE, &full(), &each), &whole) > 0.01);
    let product = Config {
        reading: Reading::Product,
        ..full()
    };
    let plain = weights(&SENTENCE, &product, &Biases::default());
    assert!(largest_change(&weights(&SENTENCE, &product, &shared), &plain) > 0.001);
}

#[test]
fn a_shared_value_bias_is_added_to_every_output() {
    let plain = head_outputs(&SENTENCE, &full(), &Biases::default()).unwrap();
    let biases = Biases {
        p_v: Some(position(&[12, 1, 32], 2)),
        ..Biases::default()
    };
    let unit = &biases.p_v.as_ref().unwrap().unit;
    let mut want = plain;
    for (at, value) in want.iter_mut().enumerate() {
        let (head, c) = (at / (24 * 32), at % 32);
        *value += f64::from(0.7f32) * f64::from(unit.data[head * 32 + c]);
    }
    let got = head_outputs(&SENTENCE, &full(), &biases).unwrap();
    compare("O + P_V", &got, &want, Tolerance::DOUBLE).assert();
}

#[test]
fn a_constant_added_to_rows_of_s_changes_nothing() {
    let s = noise(&[12, 24, 24], 3);
    let mut shifted = s.data.to_vec();
    for (at, value) in shifted.iter_mut().enumerate() {
        // The same multiple of 1/4 along a row of noise that is cut to multiples of 1/1024:
        // f32 holds the sum exactly.
        *value = (*value * 1024.0).round() / 1024.0 + (at / 24 % 5) as f32 * 0.25;
    }
    let base: Vec<f32> = s
        .data
        .iter()
        .map(|x| (x * 1024.0).round() / 1024.0)
        .collect();
    let dense = |data: Vec<f32>| Biases {
        s: Some(ScoreBias::Dense(Tensor::new(&[12, 24, 24], data).unwrap())),
        ..Biases::default()
    };
    let (base, shifted) = (dense(base), dense(shifted));
    for reading in [Reading::Bias, Reading::Product] {
        let config = Config { reading, ..full() };
        let (a, b) = (
            weights(&SENTENCE, &config, &base),
            weights(&SENTENCE, &config, &shifted),
        );
        compare(format!("{reading:?}"), &b, &a, Tolerance::DOUBLE).assert();
    }
}

#[test]
fn a_curve_is_the_dense_s_of_its_offsets() {
    let curve: Arc<[f32]> = noise(&[47], 4).data;
    let data: Vec<f32> = (0..12 * 24 * 24)
        .map(|at| curve[at % 24 + 23 - at / 24 % 24])
        .collect();
    let biases = |s| Biases {
        s: Some(s),
        ..Biases::default()
    };
    for reading in [Reading::Bias, Reading::Product] {
        let config = Config { reading, ..full() };
        let dense = biases(ScoreBias::Dense(
            Tensor::new(&[12, 24, 24], data.clone()).unwrap(),
        ));
        let curved = biases(ScoreBias::Curve {
            table: curve.clone(),
            common: 0.0,
        });
        assert_eq!(
            weights(&SENTENCE, &config, &curved),
            weights(&SENTENCE, &config, &dense)
        );
    }
}

#[test]
fn full_ranks_change_nothing() {
    let layer = &*SENTENCE;
    let Output::Full(Linear { weight, .. }) = &layer.output else {
        panic!("MiniLM has a W_O");
    };
    let o = head_outputs(layer, &full(), &Biases::default()).unwrap();
    let y = layer_output(layer, &full(), &o, None).unwrap();
    let factors = factor_output(weight).unwrap();
    let at_rank = |rank| {
        let config = Config {
            out_rank: Some(rank),
            ..full()
        };
        layer_output(layer, &config, &o, Some(&factors)).unwrap()
    };
    compare("output rank d", &at_rank(384), &y, Tolerance::DOUBLE).assert();
    // The relative error of Y comes out of component energies and σ, as the page takes it.
    let energies: Vec<f32> = component_energies(layer, &o, &factors)
        .iter()
        .map(|&e| e as f32)
        .collect();
    let sigma: Vec<f32> = factors.sigma.iter().map(|&s| s as f32).collect();
    let norm = |y: &[f64]| y.iter().map(|y| y * y).sum::<f64>();
    for rank in [1, 64, 200] {
        let off: Vec<f64> = at_rank(rank).iter().zip(&y).map(|(a, b)| a - b).collect();
        let direct = (norm(&off) / norm(&y)).sqrt();
        let quick = output_error(&sigma, &energies, norm(&y), rank as usize);
        assert!((direct - quick).abs() < 1e-5, "{rank}: {direct} {quick}");
        assert!(direct > 0.0 && energy_kept(&sigma, rank as usize) < 1.0);
    }
    // What the engines get is the same, rounded to f32.
    let rounded = out_factors(weight).unwrap();
    compare("sigma", &rounded.sigma, &sigma, Tolerance::REFERENCE).assert();

    let whole = weights(layer, &full(), &Biases::default());
    let config = Config {
        score_rank: Some(32),
        ..full()
    };
    let ranked = weights(layer, &config, &Biases::default());
    let tolerance = Tolerance {
        name: "QR and SVD in between",
        absolute: 1e-11,
        relative: 0.0,
    };
    compare("score rank d_h", &ranked, &whole, tolerance).assert();
}

/// The factors that engines multiply give the scores of the reference at every rank.
#[test]
fn score_factors_give_the_reference_scores() {
    let layer = &*SENTENCE;
    let biases = Biases {
        p_k: Some(position(&[12, 24, 32], 5)),
        ..Biases::default()
    };
    let factors = score_factors(layer, &biases).unwrap();
    assert_eq!(factors.q.shape, [12, 24, 24]);
    assert_eq!(factors.k.shape, [12, 25, 24]);
    for rank in [1u32, 5, 24] {
        let config = Config {
            score_rank: Some(rank),
            ..full()
        };
        let head = Head::new(layer, &config, &biases, 8).unwrap();
        let row = |tensor: &Tensor, i: usize| tensor.outer(8)[i * 24..][..rank as usize].to_vec();
        let got: Vec<f64> = (0..24 * 24)
            .map(|at| {
                let (q, k) = (row(&factors.q, at / 24), row(&factors.k, at % 24));
                let dot: f64 = q
                    .iter()
                    .zip(k.iter().zip(row(&factors.k, 24)))
                    .map(|(&q, (&k, common))| f64::from(q) * (f64::from(k) + f64::from(common)))
                    .sum();
                config.scale * dot
            })
            .collect();
        let want = head.map().score;
        compare(format!("rank {rank}"), &got, &want, Tolerance::REFERENCE).assert();
    }
}

/// A row without keys is nothing, exactly; and values that are not there are not made up.
#[test]
fn rows_without_keys_and_layers_without_values() {
    let config = Config {
        visibility: Visibility {
            left: Some(3),
            right: Some(-1),
            ..Visibility::default()
        },
        ..full()
    };
    let head = Head::new(&SENTENCE, &config, &Biases::default(), 3).unwrap();
    assert!(head.row(0).keys.is_empty());
    assert_eq!(head.output().unwrap()[..32], [0.0; 32]);
    let cell = head.cell(0, 0);
    assert!(!cell.visible && cell.weight == 0.0 && cell.row_sum == 0.0);
    assert!(cell.score.is_finite());

    let bytes = fs::read(folder::shipped().join("first.safetensors")).unwrap();
    let first = minilm::first(&bytes).unwrap().layer;
    let preview = Head::new(&first, &full(), &Biases::default(), 0).unwrap();
    assert!(preview.output().is_err());
    // The preview's head is the layer's head 8.
    let whole = Head::new(&SENTENCE, &full(), &Biases::default(), 8).unwrap();
    compare(
        "preview",
        &preview.map().weights,
        &whole.map().weights,
        Tolerance::DOUBLE,
    )
    .assert();
    assert!(Head::new(&first, &full(), &Biases::default(), 1).is_err());
}

fn random_layers() -> impl Strategy<Value = (Layer, Biases)> {
    (1usize..4, 1usize..14, 1usize..6, any::<bool>()).prop_flat_map(|(h, l, n, shared)| {
        let tensor = move |shape: Vec<usize>| {
            let count = shape.iter().product::<usize>();
            proptest::collection::vec(-4.0f32..4.0, count)
                .prop_map(move |data| Tensor::new(&shape, data).unwrap())
        };
        let heads = move || tensor(vec![h, l, n]);
        let bias = tensor(vec![h, if shared { 1 } else { l }, n]);
        let mask = proptest::option::of(proptest::collection::vec(0u8..4, l * l));
        (heads(), heads(), heads(), bias, tensor(vec![h, l, l]), mask).prop_map(
            move |(q, k, v, unit, s, mask)| {
                let layer = Layer {
                    id: fresh_id(),
                    heads: h,
                    seq_len: l,
                    head_dim: n,
                    input: Input::Heads { q, k, v },
                    output: Output::Identity,
                    mask: mask.map(Into::into),
                    preview_of: None,
                };
                let biases = Biases {
                    p_k: Some(PositionBias {
                        unit,
                        amplitude: 0.5,
                    }),
                    p_v: None,
                    s: Some(ScoreBias::Dense(s)),
                };
                (layer, biases)
            },
        )
    })
}

proptest! {
    // Regression files are kept beside a lib.rs, which an integration test has not.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Row sums, masked cells, segment sums and cells that say what rows say.
    #[test]
    fn rows_keep_their_promises(
        (layer, biases) in random_layers(),
        reach in proptest::option::of(-1i32..6),
        causal in any::<bool>(),
        sinks in 0u32..3,
        segment in proptest::option::of(1u32..8),
        reading in prop_oneof![Just(Reading::Softmax), Just(Reading::Bias), Just(Reading::Product)],
    ) {
        layer.check().unwrap();
        biases.check(&layer).unwrap();
        let config = Config {
            visibility: Visibility { causal, left: reach, right: reach, sinks, ..Visibility::default() },
            reading,
            segment,
            ..Config::full(layer.head_dim)
        };
        let l = layer.seq_len;
        let part = config.segment_len(l);
        for h in 0..layer.heads {
            let head = Head::new(&layer, &config, &biases, h).unwrap();
            let map = head.map();
            for i in 0..l {
                let row = head.row(i);
                let dense = &map.weights[i * l..(i + 1) * l];
                for (j, &weight) in dense.iter().enumerate() {
                    let seen = config.visibility.visible(i, j, l, layer.mask.as_deref());
                    prop_assert_eq!(map.visible[i * l + j], seen);
                    prop_assert!(seen || weight == 0.0);
                    prop_assert!(weight.is_finite());
                    let cell = head.cell(i, j);
                    prop_assert_eq!(cell.weight, weight);
                    prop_assert!((cell.qk + cell.qp - cell.score).abs() < 1e-12 * (1.0 + cell.score.abs()));
                }
                if reading == Reading::Product || row.keys.is_empty() {
                    continue;
                }
                let sum: f64 = dense.iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-12);
                for segment in dense.chunks(part) {
                    let sum: f64 = segment.iter().sum();
                    let each = 1.0 / row.segments as f64;
                    prop_assert!(sum == 0.0 || (sum - each).abs() < 1e-12);
                }
            }
        }
    }
}
