//! Numerical edge cases of the WGSL engine against the f64 reference. Scores here are exact in f32,
//! so that SPEC 7's tolerance holds however large they are.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::compare::Comparison;
use attnscope_attention::config::Reading;
use attnscope_attention::layer::{Input, PositionBias, ScoreBias, Tensor};
use attnscope_attention::visibility::Visibility;
use attnscope_engine::{Frame, OutputMatrix};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::Quantity;
use support::recipe::{Auxiliary, Position, Recipe, relaid};
use support::wanted::Check;
use support::{matrix, output, whole_map};

/// Compares everything of `frame` with the reference.
fn judged(engine: &mut GpuEngine, name: &str, frame: &Frame) -> Vec<Comparison> {
    let frame = Frame {
        map: Some(whole_map(&frame.layer, 0, Quantity::Weights)),
        output: Some(output(&frame.layer)),
        ..frame.clone()
    };
    Check::new(name, frame).judge(engine)
}

#[track_caller]
fn holds(engine: &mut GpuEngine, name: &str, frame: &Frame) {
    for found in judged(engine, name, frame) {
        found.assert();
    }
}

/// q and k of whole numbers: r and z are exact in f32, however large.
fn exact(frame: &Frame, reach: f32) -> Frame {
    relaid(frame, |layer| {
        let Input::Heads { q, k, .. } = &mut layer.input else {
            panic!("given heads");
        };
        for (tensor, reach) in [(q, 2.0), (k, reach)] {
            let data: Vec<f32> = tensor.data.iter().map(|x| (x * reach).round()).collect();
            *tensor = Tensor::new(&tensor.shape, data).unwrap();
        }
    })
}

fn every_reading(segment: Option<u32>) -> impl Iterator<Item = Recipe> {
    [Reading::Softmax, Reading::Bias, Reading::Product]
        .map(|reading| Recipe {
            seq_len: 37,
            // 1/√16 is exact.
            head_dim: 16,
            reading,
            segment,
            s: Some(Auxiliary::Dense(1.0)),
            ..Recipe::default()
        })
        .into_iter()
}

#[test]
fn scores_beyond_ten_thousand() {
    let mut engine = support::engine();
    for recipe in every_reading(None).chain(every_reading(Some(5))) {
        // Sums of 16 products up to 3 · 8000.
        let mut frame = exact(&recipe.frame(), 4000.0);
        if recipe.reading == Reading::Bias {
            frame.biases.s = Some(ScoreBias::Dense(
                Tensor::new(&[2, 37, 37], vec![-4096.0; 2 * 37 * 37]).unwrap(),
            ));
        }
        let name = format!("{:?} {:?}", recipe.reading, recipe.segment);
        holds(&mut engine, &name, &frame);
    }
}

#[test]
fn all_visible_exponents_below_minus_sixty_thousand() {
    let mut engine = support::engine();
    for recipe in every_reading(None).chain(every_reading(Some(5))) {
        for hidden in [None, Some(0.5)] {
            let recipe = Recipe {
                hidden,
                ..recipe.clone()
            };
            let mut frame = exact(&recipe.frame(), 2.0);
            if recipe.reading == Reading::Softmax {
                // q·k' = q·k − 4 · 80 000 · the first number of q, which is 1.
                frame = relaid(&frame, |layer| {
                    if let Input::Heads { q, .. } = &mut layer.input {
                        let mut data = q.data.to_vec();
                        data.iter_mut().step_by(16).for_each(|x| *x = 1.0);
                        *q = Tensor::new(&q.shape, data).unwrap();
                    }
                });
                let mut unit = vec![0.0; 32];
                (unit[0], unit[16]) = (-320_000.0, -320_000.0);
                frame.biases.p_k = Some(PositionBias {
                    unit: Tensor::new(&[2, 1, 16], unit).unwrap(),
                    amplitude: 1.0,
                });
            }
            let s: Vec<f32> = (0..2 * 37 * 37)
                .map(|at| -80_000.0 + ((at * 13) % 17) as f32 / 4.0)
                .collect();
            frame.biases.s = Some(ScoreBias::Dense(Tensor::new(&[2, 37, 37], s).unwrap()));
            let name = format!("{:?} {:?} {hidden:?}", recipe.reading, recipe.segment);
            holds(&mut engine, &name, &frame);
        }
    }
}

#[test]
fn the_first_keys_hidden_by_a_mask() {
    let mut engine = support::engine();
    for recipe in every_reading(None).chain(every_reading(Some(8))) {
        for hidden in [1usize, 4, 31, 32, 64, 65] {
            let recipe = Recipe {
                seq_len: 67,
                hidden: Some(0.0),
                ..recipe.clone()
            };
            let frame = relaid(&recipe.frame(), |layer| {
                let mask = (0..67 * 67).map(|at| u8::from(at % 67 >= hidden));
                layer.mask = Some(mask.collect());
            });
            let name = format!("{:?}, {hidden} hidden", recipe.reading);
            holds(&mut engine, &name, &frame);
        }
    }
}

#[test]
fn no_row_sees_a_key() {
    let mut engine = support::engine();
    for recipe in every_reading(None).chain(every_reading(Some(3))) {
        let recipe = Recipe {
            hidden: Some(1.1),
            p_v: Some(Position {
                each: true,
                amplitude: 1.0,
            }),
            ..recipe
        };
        let frame = recipe.frame();
        holds(&mut engine, "no key at all", &frame);
        let o = matrix(&mut engine, &frame, OutputMatrix::Heads);
        assert!(o.iter().all(|x| x.to_bits() == 0));
    }
}

#[test]
fn one_token_and_one_number() {
    let mut engine = support::engine();
    for (seq_len, head_dim) in [
        (1, 1),
        (1, 256),
        (1, 7),
        (2, 1),
        (70, 1),
        (9, 256),
        (9, 255),
    ] {
        for reading in [Reading::Softmax, Reading::Bias, Reading::Product] {
            let recipe = Recipe {
                heads: 1,
                seq_len,
                head_dim,
                reading,
                s: Some(Auxiliary::Curve(1.0)),
                ..Recipe::default()
            };
            let name = format!("{reading:?} L = {seq_len}, d_h = {head_dim}");
            holds(&mut engine, &name, &recipe.frame());
        }
    }
}

/// Global rows end, and windows lie wholly in the past or in the future, within one block of rows.
#[test]
fn every_small_combination_of_global_rows_and_past_windows() {
    let mut engine = support::engine();
    for (causal, globals, sinks) in (0..2 * 9 * 2).map(|at| (at % 2 == 1, at / 2 % 9, at / 18)) {
        for (left, right) in [
            (None, Some(-1)),
            (None, Some(-2)),
            (Some(5), Some(-3)),
            (Some(6), Some(-5)),
            (Some(-2), None),
            (Some(0), Some(0)),
        ] {
            let recipe = Recipe {
                seq_len: 17,
                visibility: Visibility {
                    causal,
                    left,
                    right,
                    globals,
                    sinks,
                    ..Visibility::default()
                },
                ..Recipe::default()
            };
            let name = format!("causal {causal} ({left:?}, {right:?}) {globals} {sinks}");
            holds(&mut engine, &name, &recipe.frame());
        }
    }
}
