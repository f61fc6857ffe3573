//! Facts of SPEC 3–5 in the WGSL engine, over random layers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::layer::{Input, PositionBias, ScoreBias, Tensor};
use attnscope_engine::{Frame, OutputMatrix};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::Quantity;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use support::random::{Held, all_equal, cases, hold, recipes};
use support::recipe::{Projection, Recipe, Source, relaid};
use support::{maps, matrix, read, whole_map};

fn weights(engine: &mut GpuEngine, frame: &Frame) -> Vec<f32> {
    maps(engine, frame, Quantity::Weights)
}

fn equal(what: &str, got: &[f32], want: &[f32]) -> Held {
    all_equal([compare(what, got, want, Tolerance::ENGINE)])
}

fn same_bits(what: &str, got: &[f32], want: &[f32]) -> Held {
    let differs = |at: &usize| got[*at].to_bits() != want[*at].to_bits();
    prop_assert_eq!(got.len(), want.len());
    match (0..got.len()).find(differs) {
        None => Ok(()),
        Some(at) => Err(TestCaseError::fail(format!(
            "{what}: {} and {} at {at}",
            got[at], want[at]
        ))),
    }
}

/// Rows with keys sum to 1, masked cells are 0 to the bit, and visible are those of the rule.
fn rows_sum_to_one(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let frame = recipe.frame();
    let len = recipe.seq_len;
    let map = Frame {
        map: Some(whole_map(&frame.layer, 0, Quantity::Weights)),
        ..frame.clone()
    };
    let map = read(engine, &map);
    let mask = frame.layer.mask.as_deref();
    for i in 0..len {
        let row = &map.values[i * len..(i + 1) * len];
        let rule = |j: usize| frame.config.visibility.visible(i, j, len, mask);
        let keys = (0..len).filter(|&j| rule(j)).count();
        // Every key has a weight there.
        let mean = keys == 0 && recipe.empty == FullyMasked::Mean;
        for (j, value) in row.iter().enumerate() {
            let sees = rule(j) || mean;
            prop_assert_eq!(map.visible[i * len + j] > 0.5, sees, "visible {} {}", i, j);
            prop_assert!(
                sees || value.to_bits() == 0,
                "masked {} {}: {}",
                i,
                j,
                value
            );
        }
        if recipe.reading != Reading::Product {
            let sum: f64 = row.iter().map(|&a| f64::from(a)).sum();
            let want = f64::from(u8::from(keys > 0 || mean));
            prop_assert!((sum - want).abs() < 1e-5, "row {} sums to {}", i, sum);
        }
    }
    Ok(())
}

/// w ≥ L − 1 is full attention, to the bit.
fn wide_windows_are_full(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let mut frame = recipe.frame();
    frame.config.visibility.left = None;
    frame.config.visibility.right = None;
    let want = weights(engine, &frame);
    let o = matrix(engine, &frame, OutputMatrix::Heads);
    for beyond in [0, 1, 1000] {
        let w = recipe.seq_len as i32 - 1 + beyond;
        frame.config.visibility.left = Some(w);
        frame.config.visibility.right = Some(w);
        same_bits("A of a wide window", &weights(engine, &frame), &want)?;
    }
    same_bits(
        "O of a wide window",
        &matrix(engine, &frame, OutputMatrix::Heads),
        &o,
    )
}

/// A constant on a row of s changes nothing, nor does a shared P_K where r is normalised.
fn shifts_change_nothing(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let mut frame = recipe.frame();
    if let Some(ScoreBias::Dense(s)) = &frame.biases.s {
        let want = weights(engine, &frame);
        let len = recipe.seq_len;
        let moved: Vec<f32> = (0..s.data.len())
            .map(|at| s.data[at] + ((at / len * 7) % 11) as f32 - 5.0)
            .collect();
        let s = Tensor::new(&s.shape, moved).unwrap();
        let mut frame = frame.clone();
        frame.biases.s = Some(ScoreBias::Dense(s));
        equal("A with s moved by rows", &weights(engine, &frame), &want)?;
    }
    if recipe.reading != Reading::Product && recipe.score_rank.is_none() {
        frame.biases.p_k = None;
        let want = weights(engine, &frame);
        let shape = [recipe.heads, 1, recipe.head_dim];
        let unit: Vec<f32> = (0..recipe.heads * recipe.head_dim)
            .map(|at| ((at * 5) % 7) as f32 / 7.0 - 0.5)
            .collect();
        frame.biases.p_k = Some(PositionBias {
            unit: Tensor::new(&shape, unit).unwrap(),
            amplitude: 1.0,
        });
        equal("A with a shared P_K", &weights(engine, &frame), &want)?;
    }
    Ok(())
}

/// The last head first.
fn turned(tensor: &Tensor) -> Tensor {
    let step = tensor.data.len() / tensor.shape[0];
    let mut data = tensor.data.to_vec();
    data.rotate_right(step);
    Tensor::new(&tensor.shape, data).unwrap()
}

/// Heads in another order give the same numbers in that order.
fn heads_are_apart(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let recipe = Recipe {
        source: Source::Heads,
        output: Projection::None,
        score_rank: None,
        ..recipe.clone()
    };
    let frame = recipe.frame();
    let (a, o) = (
        weights(engine, &frame),
        matrix(engine, &frame, OutputMatrix::Heads),
    );
    let mut other = relaid(&frame, |layer| {
        if let Input::Heads { q, k, v } = &mut layer.input {
            (*q, *k, *v) = (turned(q), turned(k), turned(v));
        }
    });
    let biases = [&mut other.biases.p_k, &mut other.biases.p_v];
    for bias in biases.into_iter().flatten() {
        bias.unit = turned(&bias.unit);
    }
    if let Some(ScoreBias::Dense(s)) = &mut other.biases.s {
        *s = turned(s);
    }
    let mut want = a;
    want.rotate_right(recipe.seq_len * recipe.seq_len);
    same_bits("A of turned heads", &weights(engine, &other), &want)?;
    let mut want = o;
    for row in want.chunks_exact_mut(recipe.heads * recipe.head_dim) {
        row.rotate_right(recipe.head_dim);
    }
    same_bits(
        "O of turned heads",
        &matrix(engine, &other, OutputMatrix::Heads),
        &want,
    )
}

/// Score rank d_h is the full score, output rank d the full projection.
fn whole_ranks_are_full(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let d = recipe.heads * recipe.head_dim;
    if d > 64 {
        return Ok(());
    }
    let full = Recipe {
        score_rank: None,
        output: Projection::Full { bias: true },
        ..recipe.clone()
    };
    let whole = Recipe {
        score_rank: Some(recipe.head_dim as u32),
        output: Projection::Ranked {
            rank: d as u32,
            bias: true,
        },
        ..full.clone()
    };
    let (full, whole) = (full.frame(), whole.frame());
    let (a, y) = (
        weights(engine, &full),
        matrix(engine, &full, OutputMatrix::Full),
    );
    equal("A at rank d_h", &weights(engine, &whole), &a)?;
    equal(
        "Y at rank d",
        &matrix(engine, &whole, OutputMatrix::LowRank),
        &y,
    )
}

/// The same layer loaded anew gives the same bits.
fn repeats_to_the_bit(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let (one, two) = (recipe.frame(), recipe.frame());
    let a = weights(engine, &one);
    let y = matrix(engine, &one, OutputMatrix::Full);
    same_bits("A again", &weights(engine, &two), &a)?;
    same_bits("Y again", &matrix(engine, &two, OutputMatrix::Full), &y)
}

/// One engine for all of them: pipelines cost more than cases.
#[test]
fn facts_hold_for_random_layers() {
    hold(&recipes(), cases() / 20, 3, |engine, recipe| {
        rows_sum_to_one(engine, &recipe)?;
        wide_windows_are_full(engine, &recipe)?;
        shifts_change_nothing(engine, &recipe)?;
        heads_are_apart(engine, &recipe)?;
        whole_ranks_are_full(engine, &recipe)?;
        repeats_to_the_bit(engine, &recipe)
    });
}
