//! One turn of the loop: notes what has finished, draws what is new, and does postponed work.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::layout::extent::Cells;
use crate::scheduler::frame_pacing::FramePacing;
use crate::scheduler::{Scheduler, wake, with};
use crate::state::problem::Problem;
use attnscope_engine::{Engine, EngineError};
use attnscope_scene::Scene;

/// Small maps that lag behind the large one by less than this are not marked.
const LATE_MS: f64 = 600.0;

impl Scheduler {
    /// Draws if there is something new and room for it. Returns whether another frame is wanted.
    pub(super) fn tick(&mut self, now: f64) -> Result<bool, EngineError> {
        let state = self.state;
        let Some(engine) = self.engine.as_mut() else {
            return Ok(false);
        };
        if let Some(error) = engine.lost() {
            return Err(error);
        }
        if self.pacing.observe(engine, now) {
            self.assembler.compute().release();
        }
        let cells = state.layer.with_untracked(|layer| {
            let layer = &layer.shown()?.layer;
            let rect = state
                .scene
                .with_untracked(|scene| scene.rect(layer.seq_len));
            Some(Cells {
                map: (rect.rows, rect.cols),
                output: (layer.seq_len as u32, layer.model_dim() as u32),
            })
        });
        match self.canvases.settle(engine, cells) {
            Ok(true) => self.pacing.changed(now),
            Ok(false) => {}
            Err(error) => return Err(error),
        }
        self.tell_room();
        self.tell_unfinished(now);
        let Some(engine) = self.engine.as_mut() else {
            return Ok(false);
        };
        let room = FramePacing::has_room(engine);
        if room && engine.is_partial() && !self.pacing.gives_up(now) {
            engine.idle();
        } else if room && self.pacing.is_dirty() {
            let scene: Scene = state.scene.get_untracked();
            let shown = state.layer.with_untracked(|layer| layer.shown().cloned());
            let frame = shown.and_then(|loaded| {
                self.assembler
                    .frame(&scene, &loaded, &self.canvases, state.strip.get_untracked())
            });
            match frame {
                Some(frame) => match engine.draw(&frame) {
                    Ok(number) => {
                        self.pacing.drawn(number, now);
                        self.numbers.note_drawn(number, &frame.layer, &scene);
                    }
                    Err(EngineError::EmptyCanvas) => self.pacing.skipped(),
                    Err(error @ EngineError::TooLarge { .. }) => {
                        self.pacing.skipped();
                        let too_large = |problem: &Problem| {
                            matches!(problem, Problem::Engine(EngineError::TooLarge { .. }))
                        };
                        state.tell(too_large, vec![Problem::Engine(error)]);
                    }
                    Err(error) => return Err(error),
                },
                // Something is still on its way (a layer, factors): its arrival wakes the loop.
                None => self.pacing.skipped(),
            }
        } else if room && !self.pacing.is_dirty() && self.pacing.rests(now) {
            self.pacing.slice(engine.idle());
        }
        self.tell_drawn();
        let Some(engine) = self.engine.as_mut() else {
            return Ok(false);
        };
        if self.pacing.report_due(engine, now) {
            let (report, asked) = (engine.report(), self.pacing.engine());
            spawn_local(async move {
                let report = report.await;
                let newest = with(|scheduler| {
                    let newest = scheduler.pacing.engine() == asked;
                    if newest {
                        scheduler.pacing.reported();
                    }
                    newest
                });
                if let (Ok(report), Some(true)) = (report, newest) {
                    state.report.set(report);
                }
                wake();
            });
        }
        if self.pacing.rests(now) {
            self.numbers.rest(engine, self.pacing.is_dirty());
        }
        if self.pacing.comes_to_rest(now) {
            state.rested.set(true);
        }
        if let Some(sigma) = self.assembler.take_sigma() {
            state.sigma.set(sigma);
        }
        Ok(self.pacing.wants_more(engine) || self.numbers.waits())
    }

    /// Without a picture, no cell looks masked.
    pub(super) fn tell_drawn(&mut self) {
        let Some(engine) = &self.engine else {
            return;
        };
        let drawn = self.canvases.drawn(engine);
        if self.state.drawn.get_untracked() != drawn {
            self.state.drawn.set(drawn);
        }
    }

    /// Marks a coarse map, and small maps that have been old long enough to notice.
    fn tell_unfinished(&self, now: f64) {
        let Some(engine) = &self.engine else {
            return;
        };
        let (coarse, waits) = engine.unfinished();
        let late = waits && self.pacing.waits_for(now) > LATE_MS;
        let state = self.state;
        if state.coarse.get_untracked() != coarse {
            state.coarse.set(coarse);
        }
        if state.strip_late.get_untracked() != late {
            state.strip_late.set(late);
        }
    }

    /// Shows a sentence while the map has no room.
    fn tell_room(&self) {
        let is_it = |problem: &Problem| *problem == Problem::Engine(EngineError::EmptyCanvas);
        let problems = self.state.problems;
        let told = problems.with_untracked(|all| all.iter().any(is_it));
        if self.canvases.has_no_room() != told {
            let now = (!told).then_some(Problem::Engine(EngineError::EmptyCanvas));
            self.state.tell(is_it, now.into_iter().collect());
        }
    }
}
