//! Random layers through the CPU engine against the f64 reference: A of every head, and O.
#![allow(clippy::unwrap_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_engine::{Engine, Frame, OutputMatrix};
use attnscope_engine_cpu::CpuEngine;
use attnscope_scene::Quantity;
use proptest::prelude::*;
use support::random::{all_equal, recipes};
use support::wanted::head;
use support::{output, whole_map};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn random_layers_through_the_cpu_engine(recipe in recipes()) {
        let frame = recipe.frame();
        let layer = frame.layer.clone();
        let (len, dim, d) = (layer.seq_len, layer.head_dim, layer.model_dim());
        let mut engine = CpuEngine::default();
        let mut o = vec![0.0f64; len * d];
        for number in 0..layer.heads {
            let reference = head(&frame, number);
            let shown = Frame {
                map: Some(whole_map(&layer, number, Quantity::Weights)),
                ..frame.clone()
            };
            engine.draw(&shown).unwrap();
            let got = support::map(&mut engine).values;
            all_equal([compare("A", &got, &reference.map().weights, Tolerance::ENGINE)])?;
            for (at, value) in reference.output().unwrap().into_iter().enumerate() {
                o[at / dim * d + number * dim + at % dim] = value;
            }
        }
        let shown = Frame {
            output: Some(output(&layer)),
            ..frame
        };
        engine.draw(&shown).unwrap();
        all_equal([compare("O", &support::drawn_matrix(&mut engine, OutputMatrix::Heads), &o, Tolerance::ENGINE)])?;
    }
}
