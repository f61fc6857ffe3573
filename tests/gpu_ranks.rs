//! A dragged output rank: whatever ranks came before, the same rank gives the same bits, and they
//! are right.
#![allow(clippy::unwrap_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::layer::Output;
use attnscope_attention::low_rank::factor_output;
use attnscope_attention::output::{head_outputs, layer_output};
use attnscope_data::folder;
use attnscope_engine::OutputMatrix;
use support::{frame, matrix};

#[test]
fn a_rank_has_the_same_bits_whatever_came_before() {
    let mut case = folder::cases(&folder::golden())
        .unwrap()
        .into_iter()
        .find(|c| c.name == "minilm-sentence-rank")
        .unwrap();
    case.config.out_rank = Some(1);
    let mut frame = frame(&case);
    let Output::Full(linear) = &case.layer.output else {
        panic!("the case has W_O in full");
    };
    let factors = factor_output(&linear.weight).unwrap();
    let o = head_outputs(&case.layer, &case.config, &case.biases).unwrap();
    let mut dragged = support::engine();
    // Up and down, beside and across the cached partial sums.
    for rank in [1, 384, 31, 32, 33, 200, 64, 383, 7, 350, 2] {
        frame.config.out_rank = Some(rank);
        let got = matrix(&mut dragged, &frame, OutputMatrix::LowRank);
        let fresh = matrix(&mut support::engine(), &frame, OutputMatrix::LowRank);
        assert!(
            got.iter()
                .zip(&fresh)
                .all(|(a, b)| a.to_bits() == b.to_bits()),
            "rank {rank} depends on what came before"
        );
        let config = &frame.config;
        let want: Vec<f32> = layer_output(&case.layer, config, &o, Some(&factors))
            .unwrap()
            .into_iter()
            .map(|y| y as f32)
            .collect();
        compare(format!("Y of rank {rank}"), &got, &want, Tolerance::ENGINE).assert();
    }
}
