//! After many Frames, one WGSL engine shows the next one as a new engine does, bit by bit.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_engine::{Engine, Frame, OutputMatrix, ReadResults};
use attnscope_engine_gpu::{GpuEngine, Slot};
use proptest::prelude::*;
use support::random::{cases, hold};
use support::sequence::{Choices, Kits, PICTURES, Part, Seen, Step, bits, same, sequences};

const SLOTS: [Slot; 3] = [Slot::Map, Slot::Strip, Slot::Output];

fn attach(engine: &mut GpuEngine) {
    for (slot, (width, height)) in SLOTS.into_iter().zip(PICTURES) {
        engine.attach_texture(slot, width, height).unwrap();
    }
}

/// Everything that `frame`, drawn last, shows.
fn seen(engine: &mut GpuEngine, frame: &Frame) -> Seen {
    engine.finish();
    // All copies start before the first is awaited.
    let report = engine.report();
    let map = frame.map.as_ref().map(|_| engine.read_map());
    let heads = 0..frame.strip.as_ref().map_or(0, |_| frame.layer.heads as u32);
    let strip: Vec<_> = heads.map(|head| engine.read_strip(head)).collect();
    let mut matrices = Vec::new();
    if frame.output.is_some() {
        matrices.push(("O", engine.read_matrix(OutputMatrix::Heads)));
        matrices.push(("Y", engine.read_matrix(OutputMatrix::Full)));
        if frame.config.out_rank.is_some() {
            matrices.push(("Y at the rank", engine.read_matrix(OutputMatrix::LowRank)));
        }
    }
    let shown = [
        frame.map.is_some(),
        frame.strip.is_some(),
        frame.output.is_some(),
    ];
    let pictures: Vec<_> = SLOTS
        .into_iter()
        .zip(shown)
        .filter(|&(_, shown)| shown)
        .map(|(slot, _)| engine.read_pixels(slot))
        .collect();
    let report = engine.block_on(report).unwrap();
    let mut seen = Seen::new();
    if let Some(map) = map {
        let map = engine.block_on(map).unwrap();
        let range = report.map_range.map_or_else(Vec::new, |r| vec![r.0, r.1]);
        seen.extend([
            ("map", bits(&map.values)),
            ("visible", bits(&map.visible)),
            ("range", bits(&range)),
        ]);
    }
    for map in strip {
        seen.push(("small map", bits(&engine.block_on(map).unwrap().values)));
    }
    for (name, matrix) in matrices {
        seen.push((name, bits(&engine.block_on(matrix).unwrap())));
    }
    if frame.output.is_some() {
        seen.push(("energies", bits(&report.component_energy)));
        seen.push(("energy", bits(&[report.output_energy])));
    }
    for picture in pictures {
        let pixels = engine.block_on(picture).unwrap();
        seen.push(("picture", bytemuck::pod_collect_to_vec(&pixels.rgba)));
    }
    seen
}

/// U₁·1, U₁·0, U₂·0, U₂·1: at amplitude 0 the unit changes without effect.
#[test]
fn a_unit_that_changes_at_amplitude_0_is_the_one_that_acts() {
    let kits = Kits::new();
    let mut engine = support::engine();
    let mut fresh = support::engine();
    attach(&mut engine);
    attach(&mut fresh);
    for (unit, amplitude) in [
        (Part::KeyUnit, Part::KeyAmplitude),
        (Part::ValueUnit, Part::ValueAmplitude),
    ] {
        let mut choices = Choices::new(&kits);
        // Indices of an output, and of amplitudes 1 and 0.
        for edits in [
            vec![(Part::Output, 1), (amplitude, 1)],
            vec![(amplitude, 2)],
            vec![(unit, 1)],
            vec![(amplitude, 1)],
        ] {
            let frame = choices.after(&Step {
                edits,
                pieces: None,
            });
            engine.draw(&frame).unwrap();
            fresh.restore_kernels();
            fresh.draw(&frame).unwrap();
            let (kept, fresh) = (seen(&mut engine, &frame), seen(&mut fresh, &frame));
            same(0, &frame, &kept, &fresh).unwrap();
        }
    }
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn an_engine_that_has_drawn_many_frames_draws_like_a_fresh_one() {
    let kits = Kits::new();
    // A new device for every Frame would take hours: this engine forgets all it has.
    let mut fresh = support::engine();
    attach(&mut fresh);
    let fresh = std::cell::RefCell::new(fresh);
    hold(&sequences(), cases() / 250, 8, |engine, steps| {
        engine.restore_kernels();
        attach(engine);
        let fresh = &mut *fresh.borrow_mut();
        let mut choices = Choices::new(&kits);
        for (at, step) in steps.iter().enumerate() {
            let frame = choices.after(step);
            engine
                .draw(&frame)
                .map_err(|e| TestCaseError::fail(e.to_string()))?;
            if let Some(pieces) = step.pieces {
                for _ in 0..pieces {
                    engine.idle();
                }
            } else {
                fresh.restore_kernels();
                fresh.draw(&frame).unwrap();
                same(at, &frame, &seen(engine, &frame), &seen(fresh, &frame))?;
            }
        }
        Ok(())
    });
}
