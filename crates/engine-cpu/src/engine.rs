//! [`CpuEngine`]: the last Frame, its valid results, and the remaining work, in parts short enough
//! to make way for a newer Frame.

use std::collections::VecDeque;

use attnscope_engine::cache_state::{CacheState, Units};
use attnscope_engine::needs;
use attnscope_engine::passes::{Pass, Plan};
use attnscope_engine::sizes::{Allowed, PaddedSizes, StatSizes};
use attnscope_engine::steps::{Job, Step, StepPlanner, Steps, row_count};
use attnscope_engine::validate::validated;
use attnscope_engine::{
    Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues, OutputMatrix,
    ReadResults, Slot,
};

use super::maps::Cursor;
use super::outputs::Outputs;
use super::paint::Picture;
use super::passes::{computes, function, taken_after};
use super::texels::Texels;

/// Multiply-adds of one part: 10 to 30 ms in a browser.
pub(super) const BUDGET: u64 = 80_000_000;

/// The last Frame and the state of its results.
pub(super) struct Shown {
    pub(super) frame: Frame,
    pub(super) sizes: PaddedSizes,
    cache: CacheState,
}

/// The engine. It does nothing by itself: each [`Engine::idle`] does one part.
pub struct CpuEngine {
    capabilities: Capabilities,
    /// Number of the newest Frame, and of the newest whose large map is complete.
    frame: u64,
    finished: u64,
    pub(super) shown: Option<Shown>,
    steps: Steps,
    /// q, k, v by head, `[L, d_h]`; after k the common row that was subtracted from the keys.
    pub(super) heads: [Vec<Vec<f32>>; 3],
    /// The common row of X, and X without it.
    pub(super) input: (Vec<f32>, Vec<f32>),
    pub(super) outputs: Outputs,
    pub(super) map: Texels,
    pub(super) strip: Vec<Texels>,
    pub(super) output: [Texels; 2],
    pub(super) cursor: Option<Cursor>,
    /// Whether to make a coarse map first.
    coarse: bool,
    /// Multiply-adds up to the whole large map, once a part of it was drawn.
    begun: Option<u64>,
    /// Whether some small maps are not drawn yet.
    pub(super) strip_waits: bool,
    /// Width and height in pixels by [`Slot`]; zero means not drawn.
    pub(super) targets: [(u32, u32); 3],
    pub(super) pictures: [Option<Picture>; 3],
}

impl Default for CpuEngine {
    fn default() -> Self {
        Self {
            capabilities: Capabilities {
                backend: "CPU".to_owned(),
                adapter: std::env::consts::ARCH.to_owned(),
                software: true,
                timestamps: false,
                max_seq_len: u32::MAX,
                needs_polling: false,
            },
            frame: 0,
            finished: 0,
            shown: None,
            steps: Steps::default(),
            heads: Default::default(),
            input: Default::default(),
            outputs: Outputs::default(),
            map: Texels::default(),
            strip: Vec::new(),
            output: Default::default(),
            cursor: None,
            coarse: false,
            begun: None,
            strip_waits: false,
            targets: Default::default(),
            pictures: Default::default(),
        }
    }
}

impl CpuEngine {
    /// Takes over `frame`: invalidates the stale results of the last one and plans the remaining
    /// work.
    fn accept(&mut self, frame: Frame) -> Result<(), EngineError> {
        let sizes = check(&frame)?;
        let units = Units::of(&frame, &sizes, &stat_sizes(&frame, &sizes));
        let plan = Plan::between(self.shown.as_ref().map(|s| &s.frame), &frame);
        let mut cache = match self.shown.take() {
            Some(shown) if !plan.contains(Pass::Layer) => shown.cache,
            _ => {
                let none = vec![Vec::new(); sizes.heads];
                self.heads = [none.clone(), none.clone(), none];
                self.input = Default::default();
                self.outputs = Outputs::default();
                self.output = Default::default();
                CacheState::new(units)
            }
        };
        cache.invalidate(plan, units);
        self.cursor = None;
        self.begun = None;
        self.shown = Some(Shown {
            frame,
            sizes,
            cache,
        });
        self.schedule();
        Ok(())
    }

    fn schedule(&mut self) {
        let Some(Shown {
            frame,
            sizes,
            cache,
        }) = &self.shown
        else {
            return;
        };
        self.steps = StepPlanner {
            frame,
            sizes,
            stats: &stat_sizes(frame, sizes),
            budget: BUDGET,
            computes,
            caches_scores: false,
        }
        .steps(cache);
        let map = self.steps.front.iter().filter(|s| s.job.pass == Pass::Map);
        self.coarse = map.map(|step| step.cost).sum::<u64>() > 2 * BUDGET;
    }

    fn step(&mut self) -> bool {
        let more = self.piece();
        // Several heads of one part are drawn at once.
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
            let front = !self.steps.front.is_empty();
            let queue = if front {
                &self.steps.front
            } else {
                &self.steps.back
            };
            let Some(next) = queue.front().copied() else {
                return false;
            };
            if self.coarse && next.job.pass == Pass::Map {
                self.coarse = false;
                self.begun = Some(cost(&self.steps.front));
                self.coarse_map();
                self.draw_partial_map();
                return true;
            }
            if self.run(next.job, &mut left) {
                if front {
                    self.steps.front.pop_front();
                } else {
                    self.steps.back.pop_front();
                }
                self.record(next.job);
                left -= taken_after(next);
                if front && self.steps.front.is_empty() {
                    break; // Show the large map before starting anything else.
                }
            } else if next.job.pass == Pass::Map {
                // Show a long map as it grows.
                self.draw_partial_map();
            }
        }
        !(self.steps.front.is_empty() && self.steps.back.is_empty())
    }

    /// Does `job`, or as much of it as `left` allows; returns whether it is done.
    fn run(&mut self, job: Job, left: &mut i64) -> bool {
        let Some(compute) = function(job.pass) else {
            return true;
        };
        // Take `shown` out, so that the job can read it while it changes the engine.
        let Some(shown) = self.shown.take() else {
            return true;
        };
        let finished = compute(self, &shown, job, left);
        self.shown = Some(shown);
        finished
    }

    fn record(&mut self, job: Job) {
        if let Some(shown) = &mut self.shown {
            let rows = row_count(job.pass, &shown.frame);
            shown.cache.record(job, rows);
        }
    }

    fn draw_partial_map(&mut self) {
        if let Some(shown) = self.shown.take() {
            self.draw_map(&shown, Job::whole(Pass::DrawMap), &mut 0);
            self.shown = Some(shown);
        }
    }

    /// How much of the large map is done, 0 ..= 1, while the drawn one is coarse.
    pub fn progress(&self) -> Option<f64> {
        let all = self.begun.filter(|_| self.is_partial())?;
        Some(1.0 - cost(&self.steps.front) as f64 / all.max(1) as f64)
    }

    /// Whether small maps of the Frame are still to come: the drawn ones are older.
    pub fn strip_waits(&self) -> bool {
        let shown = self.shown.as_ref().filter(|s| s.frame.strip.is_some());
        shown.is_some_and(|s| !s.cache.is_complete(Pass::Strip))
    }

    /// Multiply-adds of the remaining work.
    pub fn left(&self) -> u64 {
        cost(&self.steps.front) + cost(&self.steps.back)
    }

    /// Takes the pictures drawn since the last call.
    pub fn take_pictures(&mut self) -> [Option<Picture>; 3] {
        std::mem::take(&mut self.pictures)
    }

    fn numbers(&self) -> FrameReport {
        let mut report = FrameReport {
            frame: self.frame,
            ..FrameReport::default()
        };
        if let Some(Shown { frame, cache, .. }) = &self.shown {
            if frame.map.is_some() && cache.is_valid(Pass::Map, 0) {
                report.map_range = self.map.range();
            }
            if frame.output.is_some() && cache.is_valid(Pass::Energy, 0) {
                (report.component_energy, report.output_energy) = self.outputs.energy.clone();
            }
        }
        report
    }

    fn values(&self, texels: &Texels) -> MapValues {
        MapValues {
            frame: self.frame,
            rows: texels.rows as u32,
            cols: texels.cols as u32,
            values: texels.values.clone(),
            // A negative share marks a fully masked row.
            visible: texels.shares.iter().map(|share| share.max(0.0)).collect(),
        }
    }
}

impl Engine for CpuEngine {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError> {
        if self.targets[slot as usize] != (width, height) {
            self.targets[slot as usize] = (width, height);
            if let Some(shown) = &mut self.shown {
                shown.cache.invalidate_pass(slot.pass());
            }
            self.schedule();
        }
        Ok(())
    }

    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError> {
        if frame.config.score_rank.is_some() && frame.score_factors.is_none() {
            return Ok(self.frame); // The last picture stays until the factors arrive.
        }
        self.accept(validated(frame))?;
        self.frame += 1;
        Ok(self.frame)
    }

    /// Does one part of 10 to 30 ms, the large map before the rest.
    fn idle(&mut self) -> bool {
        let more = self.step();
        if !self.is_partial() {
            self.finished = self.frame;
        }
        more
    }

    fn is_partial(&self) -> bool {
        !self.steps.front.is_empty()
    }

    fn finished(&self) -> u64 {
        self.finished
    }

    fn in_flight(&self) -> u32 {
        0
    }

    fn report(&mut self) -> Local<Result<FrameReport, EngineError>> {
        let report = self.numbers();
        Box::pin(async { Ok(report) })
    }

    fn read_map(&mut self) -> Local<Result<MapValues, EngineError>> {
        while self.is_partial() {
            self.idle();
        }
        let values = self.values(&self.map);
        Box::pin(async { Ok(values) })
    }

    fn lost(&self) -> Option<EngineError> {
        None
    }
}

impl ReadResults for CpuEngine {
    fn read_strip(&mut self, head: u32) -> Local<Result<MapValues, EngineError>> {
        while self.idle() {}
        let texels = self.strip.get(head as usize);
        let values = texels.map(|texels| self.values(texels));
        let values = values.ok_or_else(|| EngineError::Invalid("no strip was drawn yet".into()));
        Box::pin(async { values })
    }

    fn read_matrix(&mut self, which: OutputMatrix) -> Local<Result<Vec<f32>, EngineError>> {
        while self.idle() {}
        let Outputs { o, y, y_low, .. } = &self.outputs;
        let matrix = match which {
            OutputMatrix::Heads => o,
            OutputMatrix::Full => y,
            OutputMatrix::LowRank => y_low,
        };
        let matrix = matrix.clone();
        Box::pin(async { Ok(matrix) })
    }
}

fn cost(steps: &VecDeque<Step>) -> u64 {
    steps.iter().map(|step| step.cost).sum()
}

/// The sizes of the layer of `frame`, if it can be drawn at all.
///
/// # Errors
/// [`EngineError::TooLarge`].
pub fn check(frame: &Frame) -> Result<PaddedSizes, EngineError> {
    // The limits that every graphics device allows: both engines draw the same layers.
    let allowed = Allowed::default();
    let sizes = PaddedSizes::new(&frame.layer, allowed)?;
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    needs::check(frame, &sizes, &stats, allowed)?;
    Ok(sizes)
}

/// How statistics would be stored; only their segments matter here.
fn stat_sizes(frame: &Frame, sizes: &PaddedSizes) -> StatSizes {
    StatSizes::new(sizes.seq_len, sizes.heads, &frame.config)
}
