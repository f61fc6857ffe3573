//! [`CpuEngine`]: the last Frame, what is there of it, and what is left to do, in pieces short
//! enough to make way for a newer Frame.

use std::collections::VecDeque;

use attnscope_engine::bounds::within_bounds;
use attnscope_engine::done::Done;
use attnscope_engine::jobs::{Job, Planner, Step, Work};
use attnscope_engine::needs;
use attnscope_engine::plan::{Pass, Plan};
use attnscope_engine::sizes::{Allowed, Sizes, StatSizes};
use attnscope_engine::{EngineError, Frame, FrameReport, MapValues};

use super::maps::Cursor;
use super::outputs::{Outputs, Which};
use super::paint::Picture;
use super::texels::Texels;
use super::work::taken_after;

/// Multiply-adds of one piece: 10 to 30 ms in a browser.
pub(super) const BUDGET: u64 = 80_000_000;

/// The last Frame and the state of its results.
pub(super) struct Shown {
    pub(super) frame: Frame,
    pub(super) sizes: Sizes,
    pub(super) done: Done,
}

/// Sizes in pixels of the three pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Width and height by [`Slot`](attnscope_engine::Slot); zero is not drawn.
    pub sizes: [(u32, u32); 3],
}

/// The engine. It does nothing by itself: [`CpuEngine::step`] does one piece.
#[derive(Default)]
pub struct CpuEngine {
    pub(super) shown: Option<Shown>,
    work: Work,
    /// q, k, v by head, `[L, d_h]`; behind k the row that keys have in common and lack.
    pub(super) heads: [Vec<Vec<f32>>; 3],
    /// What the rows of X have in common, and X without it.
    pub(super) input: (Vec<f32>, Vec<f32>),
    pub(super) outputs: Outputs,
    pub(super) map: Texels,
    pub(super) strip: Vec<Texels>,
    pub(super) output: [Texels; 2],
    pub(super) cursor: Option<Cursor>,
    /// Whether a first, coarse map is to be made.
    coarse: bool,
    /// Multiply-adds up to the whole large map, once a part of it was drawn.
    begun: Option<u64>,
    /// Whether small maps are not drawn yet.
    pub(super) strip_waits: bool,
    pub(super) targets: Targets,
    pub(super) pictures: [Option<Picture>; 3],
}

impl CpuEngine {
    /// Takes `frame` over: forgets what is stale of the last one and plans what is left.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`]; the last picture stays.
    pub fn draw(&mut self, frame: &Frame, targets: Targets) -> Result<(), EngineError> {
        let frame = within_bounds(frame);
        let sizes = check(&frame)?;
        let plan = Plan::between(self.shown.as_ref().map(|s| &s.frame), &frame);
        let mut done = match self.shown.take() {
            Some(shown) if !plan.contains(Pass::Layer) => shown.done,
            _ => {
                let none = vec![Vec::new(); sizes.heads];
                self.heads = [none.clone(), none.clone(), none];
                self.input = Default::default();
                self.outputs = Outputs::default();
                self.output = Default::default();
                Done::nothing(sizes.heads, sizes.heads)
            }
        };
        done.forget(plan);
        for (at, drawn) in [
            &mut done.map_drawn,
            &mut done.strip_drawn,
            &mut done.output_drawn,
        ]
        .into_iter()
        .enumerate()
        {
            *drawn &= self.targets.sizes[at] == targets.sizes[at];
        }
        self.targets = targets;
        self.cursor = None;
        self.begun = None;
        self.shown = Some(Shown { frame, sizes, done });
        self.schedule();
        Ok(())
    }

    fn schedule(&mut self) {
        let Some(Shown { frame, sizes, done }) = &self.shown else {
            return;
        };
        // Normalisers are made with their rows: nothing is kept of them.
        let stats = StatSizes {
            slots: sizes.heads,
            ..StatSizes::new(sizes.seq_len, sizes.heads, &frame.config)
        };
        let mut done = done.clone();
        done.stats = (0..sizes.heads as u32).map(Some).collect();
        self.work = Planner {
            frame,
            sizes,
            stats: &stats,
            budget: BUDGET,
            keeps_scores: false,
        }
        .work(&done);
        let map = self
            .work
            .front
            .iter()
            .filter(|s| matches!(s.job, Job::Map(_)));
        self.coarse = map.map(|step| step.cost).sum::<u64>() > 2 * BUDGET;
    }

    /// Does one piece of what is left, the large map before the rest. Returns whether more is left.
    pub fn step(&mut self) -> bool {
        let more = self.piece();
        // Several heads of a piece are drawn at once.
        if std::mem::take(&mut self.strip_waits)
            && let Some(shown) = self.shown.take()
        {
            self.draw_strip(&shown);
            self.shown = Some(shown);
        }
        more
    }

    fn piece(&mut self) -> bool {
        let mut left = BUDGET as i64;
        while left > 0 {
            let front = !self.work.front.is_empty();
            let queue = if front {
                &self.work.front
            } else {
                &self.work.back
            };
            let Some(next) = queue.front().copied() else {
                return false;
            };
            if self.coarse && matches!(next.job, Job::Map(_)) {
                self.coarse = false;
                self.begun = Some(cost(&self.work.front));
                self.coarse_map();
                self.draw_map();
                return true;
            }
            if self.run(next.job, &mut left) {
                if front {
                    self.work.front.pop_front();
                } else {
                    self.work.back.pop_front();
                }
                self.note(next.job);
                left -= taken_after(next);
                if front && self.work.front.is_empty() {
                    break; // The large map is shown before anything else is begun.
                }
            } else if matches!(next.job, Job::Map(_)) {
                // A long map is seen as it comes.
                self.draw_map();
            }
        }
        !(self.work.front.is_empty() && self.work.back.is_empty())
    }

    /// Whether a part of the large map is left.
    pub fn is_partial(&self) -> bool {
        !self.work.front.is_empty()
    }

    /// How much of the large map is there, 0 ..= 1, while the one that was drawn is coarse.
    pub fn progress(&self) -> Option<f64> {
        let all = self.begun.filter(|_| self.is_partial())?;
        Some(1.0 - cost(&self.work.front) as f64 / all.max(1) as f64)
    }

    /// Whether small maps of the Frame are still to come: those that are drawn are older.
    pub fn strip_waits(&self) -> bool {
        let shown = self.shown.as_ref().filter(|s| s.frame.strip.is_some());
        shown.is_some_and(|s| !s.done.strip.iter().all(|&there| there))
    }

    /// Multiply-adds that are left.
    pub fn left(&self) -> u64 {
        cost(&self.work.front) + cost(&self.work.back)
    }

    /// Takes the pictures that were drawn since the last call.
    pub fn take_pictures(&mut self) -> [Option<Picture>; 3] {
        std::mem::take(&mut self.pictures)
    }

    /// Numbers of the last Frame, as far as they are there.
    pub fn report(&self) -> FrameReport {
        let mut report = FrameReport::default();
        if let Some(Shown { frame, done, .. }) = &self.shown {
            if frame.map.is_some() && done.map {
                report.map_range = self.map.range();
            }
            if frame.output.is_some() && done.energy {
                (report.component_energy, report.output_energy) = self.outputs.energy.clone();
            }
        }
        report
    }

    /// The values of the large map, after what is left of it was done.
    pub fn map_values(&mut self) -> MapValues {
        while self.is_partial() {
            self.step();
        }
        values(&self.map)
    }

    /// The values of the small map of `head`, after everything that is left was done.
    pub fn strip_values(&mut self, head: usize) -> Option<MapValues> {
        while self.step() {}
        self.strip.get(head).map(values)
    }

    /// A matrix `[L, d]` of the layer's output, after everything that is left was done. Needs a
    /// Frame with `output`.
    pub fn matrix(&mut self, which: Which) -> &[f32] {
        while self.step() {}
        match which {
            Which::Heads => &self.outputs.o,
            Which::Full => &self.outputs.y,
            Which::LowRank => &self.outputs.y_low,
        }
    }
}

fn cost(steps: &VecDeque<Step>) -> u64 {
    steps.iter().map(|step| step.cost).sum()
}

/// The sizes of the layer of `frame`, when it can be drawn at all.
///
/// # Errors
/// [`EngineError::TooLarge`].
pub fn check(frame: &Frame) -> Result<Sizes, EngineError> {
    // What every graphics device allows: both engines draw the same layers.
    let allowed = Allowed::default();
    let sizes = Sizes::new(&frame.layer, allowed)?;
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    needs::check(frame, &sizes, &stats, allowed)?;
    Ok(sizes)
}

fn values(texels: &Texels) -> MapValues {
    MapValues {
        frame: 0,
        rows: texels.rows as u32,
        cols: texels.cols as u32,
        values: texels.values.clone(),
        // A row without keys is marked by a negative share.
        visible: texels.shares.iter().map(|share| share.max(0.0)).collect(),
    }
}
