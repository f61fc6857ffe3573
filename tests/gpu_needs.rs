//! The predicted needs of a Frame against the buffers that are really made and bound for it, and
//! the handling of a Frame that needs too much.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;

use attnscope_attention::layer::{Output, Tensor};
use attnscope_engine::{Engine, EngineError, Frame};
use attnscope_scene::Quantity;
use proptest::prelude::*;
use support::random::{cases, hold, recipes};
use support::recipe::{Recipe, relaid};
use support::{output, read, strip, whole_map};

/// By name: bytes, and bytes of the largest bound range.
type Buffers = BTreeMap<String, (u64, u64)>;

#[test]
fn what_is_foretold_is_what_is_made() {
    let shown = (recipes(), any::<[bool; 3]>(), any::<u32>());
    hold(
        &shown,
        cases() / 20,
        77,
        |engine, (recipe, [map, small, out], head)| {
            let base = recipe.frame();
            let head = head as usize % recipe.heads;
            let frame = Frame {
                map: map.then(|| whole_map(&base.layer, head, Quantity::Weights)),
                strip: small.then(|| strip(32)),
                output: out.then(|| output(&base.layer)),
                ..base
            };
            // Nothing of an earlier Frame.
            engine.restore_kernels();
            engine.draw(&frame).expect("it fits");
            engine.finish();
            let made: Buffers = engine
                .used()
                .into_iter()
                .map(|(name, bytes, bound)| (format!("{name:?}"), (bytes, bound)))
                .collect();
            let foretold: Buffers = engine
                .foretold()
                .into_iter()
                .map(|need| (format!("{:?}", need.name), (need.bytes, need.bound)))
                .collect();
            prop_assert_eq!(made, foretold);
            Ok(())
        },
    );
}

#[test]
fn a_frame_that_needs_too_much_is_refused_and_the_engine_goes_on() {
    let mut engine = support::engine();
    let recipe = Recipe {
        heads: 1,
        seq_len: 60,
        head_dim: 4,
        ..Recipe::default()
    };
    let base = recipe.frame();
    let plain = Frame {
        map: Some(whole_map(&base.layer, 0, Quantity::Weights)),
        ..base
    };
    let before = read(&mut engine, &plain);
    // T would be 60 × 600,000 numbers.
    let rank = 600_000;
    let numbers = |shape: &[usize]| Tensor::new(shape, vec![0.5; rank * 4]).unwrap();
    let many = relaid(&plain, |layer| {
        layer.output = Output::Factors {
            w_1: numbers(&[rank, 4]),
            w_2: numbers(&[4, rank]),
            bias: None,
        };
    });
    many.layer.check().unwrap();
    let shown = Frame {
        output: Some(output(&many.layer)),
        ..many.clone()
    };
    let refused = engine.draw(&shown);
    engine.finish();
    assert_eq!(engine.take_fault(), None, "the device has refused it");
    assert!(
        matches!(refused, Err(EngineError::TooLarge { wanted, allowed })
            if wanted == 60 * rank as u64 && wanted > allowed),
        "{refused:?}"
    );
    // Its map alone does not need T.
    assert_eq!(read(&mut engine, &many).values, before.values);
    assert_eq!(read(&mut engine, &plain).values, before.values);
    assert_eq!(engine.take_fault(), None);
}
