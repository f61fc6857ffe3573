//! Random layers in the WGSL engine against the f64 reference: any sizes, masks, readings,
//! segments, biases and ranks, within the tolerance of SPEC 7.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_attention::config::Reading;
use attnscope_engine::{Frame, MapView, Pool};
use attnscope_scene::{Quantity, Rect};
use proptest::prelude::*;
use support::random::{Held, all_equal, cases, hold, recipes};
use support::recipe::Recipe;
use support::wanted::Check;
use support::{output, whole_map};

use attnscope_engine_gpu::GpuEngine;

/// A of one head, O, Y, their energies: the numbers of a layer.
fn numbers(engine: &mut GpuEngine, recipe: &Recipe) -> Held {
    let frame = recipe.frame();
    let head = recipe.seed as usize % recipe.heads;
    let check = Check::new(
        "random",
        Frame {
            map: Some(whole_map(&frame.layer, head, Quantity::Weights)),
            output: Some(output(&frame.layer)),
            ..frame
        },
    );
    all_equal(check.judge(engine))
}

#[test]
fn random_layers_through_the_gpu() {
    hold(&recipes(), cases(), 0, |engine, recipe| {
        numbers(engine, &recipe)
    });
    println!("{} random layers", cases());
}

/// A rectangle of the map of `recipe`, in texels of one or more cells. With both signs it shows the
/// mean: of two cells with equal magnitude, either sign could win.
fn part(recipe: &Recipe, score: bool, [a, b, c, d]: [u32; 4], crisp: bool) -> (Frame, MapView) {
    let frame = recipe.frame();
    let len = recipe.seq_len as u32;
    let (row, col) = (a % len, b % len);
    let (rows, cols) = (1 + c % (len - row), 1 + d % (len - col));
    let signed = score || recipe.reading == Reading::Product;
    let quantity = if score {
        Quantity::Score
    } else {
        Quantity::Weights
    };
    let texels = |n: u32, x: u32| if crisp { n } else { 1 + x % n };
    let map = MapView {
        rect: Rect {
            row,
            col,
            rows,
            cols,
        },
        texel_rows: texels(rows, b),
        texel_cols: texels(cols, a),
        pool: if signed { Pool::Mean } else { Pool::Max },
        ..whole_map(&frame.layer, a as usize % recipe.heads, quantity)
    };
    (frame, map)
}

#[test]
fn random_parts_of_maps_through_the_gpu() {
    let some = (recipes(), any::<bool>(), any::<[u32; 4]>(), any::<bool>());
    hold(
        &some,
        cases() / 5,
        1,
        |engine, (recipe, score, at, crisp)| {
            let (frame, map) = part(&recipe, score, at, crisp);
            let frame = Frame {
                map: Some(map),
                ..frame
            };
            all_equal(Check::new("part", frame).judge(engine))
        },
    );
}
