//! After many Frames, one CPU engine shows the next one as a new engine does, bit by bit.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_engine::{Engine, Frame, OutputMatrix};
use attnscope_engine_cpu::CpuEngine;
use attnscope_engine_cpu::Picture;
use proptest::prelude::*;
use support::sequence::{Choices, Kits, PICTURES, Seen, bits, same, sequences};

/// An engine and the last picture of every slot.
#[derive(Default)]
struct Screen {
    engine: CpuEngine,
    pictures: [Option<Picture>; 3],
}

impl Screen {
    fn draw(&mut self, frame: &Frame) {
        support::resize(&mut self.engine, PICTURES);
        self.engine.draw(frame).unwrap();
    }

    fn step(&mut self) -> bool {
        let more = self.engine.idle();
        for (kept, new) in self.pictures.iter_mut().zip(self.engine.take_pictures()) {
            if new.is_some() {
                *kept = new;
            }
        }
        more
    }

    /// Everything that `frame`, drawn last, shows.
    fn seen(&mut self, frame: &Frame) -> Seen {
        while self.step() {}
        let report = support::report(&mut self.engine);
        let mut seen = Seen::new();
        let pixels = |picture: &Option<Picture>| {
            let picture = picture.as_ref().expect("a picture");
            bytemuck::cast_slice(&picture.pixels).to_vec()
        };
        if frame.map.is_some() {
            let map = support::map(&mut self.engine);
            let range = report.map_range.map_or_else(Vec::new, |r| vec![r.0, r.1]);
            seen.extend([
                ("map", bits(&map.values)),
                ("visible", bits(&map.visible)),
                ("range", bits(&range)),
                ("picture of the map", pixels(&self.pictures[0])),
            ]);
        }
        if frame.strip.is_some() {
            for head in 0..frame.layer.heads {
                let map = support::small_map(&mut self.engine, head);
                seen.push(("small map", bits(&map.values)));
            }
            seen.push(("picture of the strip", pixels(&self.pictures[1])));
        }
        if frame.output.is_some() {
            seen.push((
                "O",
                bits(&support::drawn_matrix(
                    &mut self.engine,
                    OutputMatrix::Heads,
                )),
            ));
            seen.push((
                "Y",
                bits(&support::drawn_matrix(&mut self.engine, OutputMatrix::Full)),
            ));
            if frame.config.out_rank.is_some() {
                seen.push((
                    "Y at the rank",
                    bits(&support::drawn_matrix(
                        &mut self.engine,
                        OutputMatrix::LowRank,
                    )),
                ));
            }
            seen.extend([
                ("energies", bits(&report.component_energy)),
                ("energy", bits(&[report.output_energy])),
                ("picture of the output", pixels(&self.pictures[2])),
            ]);
        }
        seen
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(1000)
    })]

    #[test]
    fn an_engine_that_has_drawn_many_frames_draws_like_a_fresh_one(steps in sequences()) {
        let kits = Kits::new();
        let mut choices = Choices::new(&kits);
        let mut screen = Screen::default();
        for (at, step) in steps.iter().enumerate() {
            let frame = choices.after(step);
            screen.draw(&frame);
            if let Some(pieces) = step.pieces {
                for _ in 0..pieces {
                    screen.step();
                }
            } else {
                let mut fresh = Screen::default();
                fresh.draw(&frame);
                same(at, &frame, &screen.seen(&frame), &fresh.seen(&frame))?;
            }
        }
    }
}
