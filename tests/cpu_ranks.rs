//! A dragged output rank on the CPU: a rank gives the same bits whatever ranks came before, the
//! result is right, and a new rank computes no more than the components between two partial sums.
#![allow(clippy::unwrap_used)]

mod support;

use attnscope_attention::compare::{Tolerance, compare};
use attnscope_attention::layer::Output;
use attnscope_attention::low_rank::factor_output;
use attnscope_attention::output::{head_outputs, layer_output};
use attnscope_data::folder;
use attnscope_engine::{Engine, OutputMatrix};
use attnscope_engine_cpu::CpuEngine;
use support::{frame, output};

#[test]
fn a_moved_rank_has_the_same_bits_and_costs_a_few_components() {
    let mut case = folder::cases(&folder::golden())
        .unwrap()
        .into_iter()
        .find(|c| c.name == "minilm-sentence-rank")
        .unwrap();
    case.config.out_rank = Some(1);
    let mut frame = frame(&case);
    frame.output = Some(output(&case.layer));
    let Output::Full(linear) = &case.layer.output else {
        panic!("the case has W_O in full");
    };
    let factors = factor_output(&linear.weight).unwrap();
    let o = head_outputs(&case.layer, &case.config, &case.biases).unwrap();
    let (len, d) = (case.layer.seq_len as u64, case.layer.model_dim() as u64);
    let mut dragged = CpuEngine::default();
    // The first one goes through all partial sums; the rest move up and down, beside and across
    // them.
    for (at, rank) in [384, 1, 31, 32, 33, 200, 64, 383, 7, 350, 2]
        .into_iter()
        .enumerate()
    {
        frame.config.out_rank = Some(rank);
        dragged.draw(&frame).unwrap();
        // Its texels cost L·d; starting from the first component would cost rank times as much.
        let few = len * d * 34;
        assert!(
            at == 0 || dragged.left() <= few,
            "{rank}: {}",
            dragged.left()
        );
        let got = support::drawn_matrix(&mut dragged, OutputMatrix::LowRank);
        let mut fresh = CpuEngine::default();
        fresh.draw(&frame).unwrap();
        assert!(fresh.left() > few, "{rank}: {}", fresh.left());
        let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
        assert!(
            got.iter()
                .zip(&support::drawn_matrix(&mut fresh, OutputMatrix::LowRank))
                .all(same),
            "rank {rank} depends on what came before"
        );
        let want: Vec<f32> = layer_output(&case.layer, &frame.config, &o, Some(&factors))
            .unwrap()
            .into_iter()
            .map(|y| y as f32)
            .collect();
        compare(format!("Y of rank {rank}"), &got, &want, Tolerance::ENGINE).assert();
    }
}
