//! The next steps of what is left to do, as one submit.

use attnscope_engine::EngineError;
use attnscope_engine::jobs::{Job, Step};

use super::engine::GpuEngine;
use super::launch::{Slice, Timed};
use super::upload::{Source, source};
use attnscope_engine::Slot;

/// Steps of one submit: each takes at most three uniform structs, a strip one per head.
const STEPS_PER_SUBMIT: usize = 64;

/// So often in a row a picture may find no texture; there is one try an animation frame.
const MISSES: u32 = 120;

impl GpuEngine {
    /// One submit of the front (or else of the back). Returns whether there was one.
    pub(super) fn run_slice(&mut self, front: bool) -> bool {
        let budget = self.context.budget();
        let queue = if front {
            &mut self.work.front
        } else {
            &mut self.work.back
        };
        let mut steps: Vec<Step> = Vec::new();
        let mut cost = 0;
        while let Some(next) = queue.front() {
            if !steps.is_empty() && (cost + next.cost > budget || steps.len() >= STEPS_PER_SUBMIT) {
                break;
            }
            cost += next.cost;
            steps.push(*next);
            queue.pop_front();
        }
        if steps.is_empty() {
            return false;
        }
        let ends = front && queue.is_empty();
        // A strip that is drawn again in the same submit need not be drawn before.
        let last_strip = steps.iter().rposition(|s| s.job == Job::DrawStrip);
        let last_pass = steps.iter().rposition(|s| self.makes_pass(s.job));
        let mut slice = self.launcher.slice(&self.context);
        let (mut timed_end, mut missed) = (false, false);
        for (at, step) in steps.iter().enumerate() {
            if step.job == Job::DrawStrip && Some(at) != last_strip {
                continue;
            }
            let makes_pass = self.makes_pass(step.job);
            let timed = Timed {
                begin: front && makes_pass && std::mem::take(&mut self.begin),
                end: ends && Some(at) == last_pass,
            };
            if self.encode(&mut slice, step.job, timed) {
                timed_end |= timed.end;
                self.note(step.job);
                if matches!(step.job, Job::DrawMap | Job::DrawStrip | Job::DrawOutput) {
                    self.misses = 0;
                }
            } else {
                self.begin |= timed.begin;
                missed = true;
            }
        }
        if timed_end {
            self.launcher.resolve_timestamps(&mut slice);
            self.timed_frame = true;
        }
        self.submit(slice);
        if missed {
            self.miss();
        } else if ends {
            self.context.announce(self.frame);
        }
        true
    }

    /// A picture is to be drawn again. A canvas that gives no texture for seconds never will, and the
    /// CPU can draw to another one.
    fn miss(&mut self) {
        self.missed = true;
        self.misses += 1;
        if self.misses >= MISSES {
            let why = "it gives no texture".to_owned();
            self.context.troubles.fail(EngineError::NoCanvas(why));
        }
    }

    fn submit(&mut self, slice: Slice) {
        self.launcher.finish(&self.context, slice);
        for canvas in self.canvases.drain(..) {
            canvas.present(&self.context);
        }
    }

    /// Whether `job` is a pass on the device and not an upload or a drawing without target.
    fn makes_pass(&self, job: Job) -> bool {
        let drawable = |slot: Slot| {
            self.targets[slot as usize]
                .as_ref()
                .is_some_and(|t| t.size().0 > 0)
        };
        match job {
            Job::DrawMap => drawable(Slot::Map),
            Job::DrawStrip => drawable(Slot::Strip),
            Job::DrawOutput => drawable(Slot::Output),
            Job::Project(part, head, _) => self.shown.as_ref().is_some_and(|s| {
                matches!(
                    source(&s.frame.layer, part, head as usize),
                    Source::Projected(_)
                )
            }),
            _ => true,
        }
    }

    fn note(&mut self, job: Job) {
        if let Some(shown) = &mut self.shown {
            let map_rows = shown.frame.map.as_ref().map_or(0, |m| m.texel_rows);
            let strip_rows = shown.frame.strip.as_ref().map_or(0, |s| s.texels);
            let rows = shown.sizes.seq_len as u32;
            shown.done.note(job, rows, map_rows, strip_rows);
        }
    }
}
