//! [`GpuEngine`]: the last Frame, its valid results, and the work that is left.

use std::sync::Arc;

use attnscope_attention::layer::Biases;
use attnscope_engine::cache_state::{CacheState, Units};
use attnscope_engine::needs::{self, Name};
use attnscope_engine::passes::{Pass, Plan};
use attnscope_engine::sizes::{PaddedSizes, StatSizes};
use attnscope_engine::steps::{Job, Step, StepPlanner, Steps, row_count};
use attnscope_engine::validate::validated;
use attnscope_engine::{
    Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues, Slot,
};
use attnscope_scene::ColorScale;

use super::context::Context;
use super::encode_heads::part_of;
use super::heatmap::{Heatmap, Look};
use super::launch::{Launcher, Submission, Timed};
use super::passes::{Kernel, Variant, computes, encoder};
use super::pipelines::Kernels;
use super::store::Store;
use super::surface::{Canvas, Target};
use super::upload::{Source, source};

/// Submits of one `draw`; `idle` does the rest.
const SUBMITS_PER_DRAW: usize = 8;

/// Steps of one submit: each takes at most three uniform structs, a strip one per head.
const STEPS_PER_SUBMIT: usize = 64;

/// How many times in a row a picture may find no texture; there is one try per animation frame.
const MISSES: u32 = 120;

/// The last Frame and the state of its results.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) frame: Frame,
    pub(super) sizes: PaddedSizes,
    pub(super) stats: StatSizes,
    pub(super) cache: CacheState,
}

/// The WGSL engine. Dropping it frees everything on the device.
pub struct GpuEngine {
    pub(super) store: Store,
    pub(super) kernels: Kernels,
    pub(super) heatmap: Heatmap,
    pub(super) launcher: Launcher,
    pub(super) targets: [Option<Target>; 3],
    pub(super) shown: Option<Shown>,
    /// The unit tensors of P_K and P_V on the device. The engine keeps them alive so that no other
    /// tensor can get their address.
    units: [Option<Arc<[f32]>>; 2],
    pub(super) canvases: Vec<Canvas>,
    /// Bound in place of a missing s, mask or bias.
    pub(super) dummy: wgpu::Buffer,
    /// Bound in place of a buffer that is not written.
    pub(super) unwritten: wgpu::Buffer,
    pub(super) frame: u64,
    pub(super) timed_frame: bool,
    pub(super) steps: Steps,
    pub(super) begin: bool,
    /// Whether a picture found no texture to draw to, and how many times in a row.
    pub(super) missed: bool,
    pub(super) misses: u32,
    // Last, so that the device is dropped after everything made from it.
    pub(super) context: Context,
}

impl GpuEngine {
    /// Requests a device and prepares what every picture needs. Creates no pipeline yet.
    ///
    /// # Errors
    /// [`EngineError::NoWebGpu`], [`EngineError::NoAdapter`] or [`EngineError::NoDevice`].
    pub async fn new() -> Result<Self, EngineError> {
        let context = Context::new().await?;
        let nothing = || {
            context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("nothing"),
                size: 256,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        };
        let (dummy, unwritten) = (nothing(), nothing());
        Ok(Self {
            store: Store::default(),
            kernels: Kernels::default(),
            heatmap: Heatmap::new(&context),
            launcher: Launcher::new(&context),
            targets: [None, None, None],
            shown: None,
            units: [None, None],
            canvases: Vec::new(),
            dummy,
            unwritten,
            frame: 0,
            timed_frame: false,
            steps: Steps::default(),
            begin: false,
            missed: false,
            misses: 0,
            context,
        })
    }

    /// What the device reported since the last call, if anything: always a bug of ours.
    pub fn take_fault(&self) -> Option<EngineError> {
        self.context.errors.take_fault()
    }

    /// The memory needs that were predicted for the last Frame.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn foretold(&self) -> Vec<needs::Need> {
        let shown = self.shown.as_ref();
        shown.map_or_else(Vec::new, |s| needs::needs(&s.frame, &s.sizes, &s.stats))
    }

    /// The existing buffers: name, bytes, bytes of the largest range that was bound.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn used(&self) -> Vec<(Name, u64, u64)> {
        self.store.used()
    }

    /// Calls `tell` when the device is lost or reports an error.
    pub fn on_loss(&self, tell: fn()) {
        self.context.errors.on_loss(tell);
    }

    /// Creates the pipelines of the first picture, whose colours have this `scale`, before its
    /// numbers arrive.
    pub fn warm_up(&mut self, scale: ColorScale) {
        // The first picture shows the whole map.
        let whole = Variant {
            scores_cached: true,
            ..Variant::default()
        };
        for kernel in [Kernel::Linear, Kernel::Stats, Kernel::Map] {
            self.need(kernel, whole);
        }
        if let Some(target) = &self.targets[Slot::Map as usize] {
            let look = Look {
                format: target.format(),
                shrunk: false,
                scale,
            };
            self.heatmap.prepare(&self.context, look);
        }
    }

    /// Does all remaining work of the last Frame.
    pub fn finish(&mut self) {
        // Asking a surface again at once does not give a texture any sooner.
        while self.idle() && !self.missed {}
    }

    /// Draws the large map again: a browser allows copying its picture only until it is shown.
    pub fn redraw_map(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.cache.invalidate_pass(Pass::DrawMap);
        }
        self.begin = true;
        self.schedule();
        while self.run_submission(true) {}
    }

    fn healthy(&self) -> Result<(), EngineError> {
        match (self.context.errors.lost(), self.context.errors.take_fault()) {
            (Some(lost), _) => Err(lost),
            (None, Some(fault)) => Err(fault),
            (None, None) => Ok(()),
        }
    }

    /// Takes over `frame` and invalidates the stale results of the last one.
    fn accept(&mut self, frame: Frame) -> Result<(), EngineError> {
        let sizes = PaddedSizes::new(&frame.layer, self.context.allowed)?;
        let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
        needs::check(&frame, &sizes, &stats, self.context.allowed)?;
        let plan = Plan::between(self.shown.as_ref().map(|s| &s.frame), &frame);
        let units = Units::of(&frame, &sizes, &stats);
        let mut cache = match self.shown.take() {
            Some(shown) if !plan.contains(Pass::Layer) => shown.cache,
            _ => CacheState::new(units),
        };
        cache.invalidate(plan, units);
        if plan.contains(Pass::Layer) {
            self.store.clear();
        }
        for (pass, names) in [
            (Pass::ScoreFactors, &[Name::QFactor, Name::KFactor][..]),
            (Pass::ScoreBias, &[Name::S]),
            (Pass::Components, &[Name::W1, Name::W2]),
        ] {
            if plan.contains(pass) {
                for &name in names {
                    self.store.set_uploaded(name, false);
                }
            }
        }
        self.forget_units(&frame.biases);
        self.shown = Some(Shown {
            frame,
            sizes,
            stats,
            cache,
        });
        self.schedule();
        Ok(())
    }

    /// Forgets the units on the device that `biases` replace. A change of only the amplitude needs
    /// no upload. At amplitude 0 the unit is ignored, so the last Frame does not say which unit the
    /// device has.
    fn forget_units(&mut self, biases: &Biases) {
        let used = [(&biases.p_k, Name::PK), (&biases.p_v, Name::PV)];
        for ((bias, name), there) in used.into_iter().zip(&mut self.units) {
            let Some(bias) = bias.as_ref().filter(|bias| bias.amplitude != 0.0) else {
                continue;
            };
            let unit = &bias.unit.data;
            if !there.as_ref().is_some_and(|there| Arc::ptr_eq(there, unit)) {
                self.store.set_uploaded(name, false);
                *there = Some(Arc::clone(unit));
            }
        }
    }

    pub(super) fn schedule(&mut self) {
        if let Some(shown) = &self.shown {
            self.steps = StepPlanner {
                frame: &shown.frame,
                sizes: &shown.sizes,
                stats: &shown.stats,
                budget: self.context.budget(),
                computes,
                caches_scores: true,
            }
            .steps(&shown.cache);
        }
    }
}

impl GpuEngine {
    /// Runs one submit of the front (or else of the back). Returns whether there was one.
    pub(super) fn run_submission(&mut self, front: bool) -> bool {
        let budget = self.context.budget();
        let queue = if front {
            &mut self.steps.front
        } else {
            &mut self.steps.back
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
        // A strip that is drawn again in the same submit need not be drawn earlier.
        let last_strip = steps.iter().rposition(|s| s.job.pass == Pass::DrawStrip);
        let last_pass = steps.iter().rposition(|s| self.makes_pass(s.job));
        let mut submission = Launcher::submission(&self.context);
        let (mut timed_end, mut missed) = (false, false);
        for (at, step) in steps.iter().enumerate() {
            if step.job.pass == Pass::DrawStrip && Some(at) != last_strip {
                continue;
            }
            let makes_pass = self.makes_pass(step.job);
            let timed = Timed {
                begin: front && makes_pass && std::mem::take(&mut self.begin),
                end: ends && Some(at) == last_pass,
            };
            if self.encode(&mut submission, step.job, timed) {
                timed_end |= timed.end;
                self.record(step.job);
                if drawn_slot(step.job.pass).is_some() {
                    self.misses = 0;
                }
            } else {
                self.begin |= timed.begin;
                missed = true;
            }
        }
        if timed_end {
            self.launcher.resolve_timestamps(&mut submission);
            self.timed_frame = true;
        }
        self.submit(submission);
        if missed {
            self.miss();
        } else if ends {
            self.context.announce(self.frame);
        }
        true
    }

    /// A picture must be drawn again. A canvas without a texture for seconds will never give one,
    /// and the CPU can draw to another canvas.
    fn miss(&mut self) {
        self.missed = true;
        self.misses += 1;
        if self.misses >= MISSES {
            let why = "it gives no texture".to_owned();
            self.context.errors.fail(EngineError::NoCanvas(why));
        }
    }

    fn submit(&mut self, submission: Submission) {
        self.launcher.finish(&self.context, submission);
        for canvas in self.canvases.drain(..) {
            canvas.present(&self.context);
        }
    }

    /// Whether `job` is a pass on the device, not an upload and not a drawing without target.
    fn makes_pass(&self, job: Job) -> bool {
        let drawable = |slot: Slot| {
            self.targets[slot as usize]
                .as_ref()
                .is_some_and(|t| t.size().0 > 0)
        };
        if let Some(slot) = drawn_slot(job.pass) {
            return drawable(slot);
        }
        let Some(part) = part_of(job.pass) else {
            return true;
        };
        self.shown.as_ref().is_some_and(|s| {
            let source = source(&s.frame.layer, part, job.unit as usize);
            matches!(source, Source::Projected(_))
        })
    }

    /// Encodes `job`; returns whether it is done.
    fn encode(&mut self, submission: &mut Submission, job: Job, timed: Timed) -> bool {
        let Some(encode) = encoder(job.pass) else {
            return true;
        };
        // Take `shown` out, so that the job can read it while it changes the engine.
        let Some(shown) = self.shown.take() else {
            return true;
        };
        let done = encode(self, &shown, submission, job, timed);
        self.shown = Some(shown);
        done
    }

    fn record(&mut self, job: Job) {
        if let Some(shown) = &mut self.shown {
            let rows = row_count(job.pass, &shown.frame);
            shown.cache.record(job, rows);
        }
    }
}

/// Wrong kernels on purpose: negative controls show that a check can fail.
#[cfg(feature = "mutants")]
impl GpuEngine {
    /// Replaces a kernel by other WGSL, for negative controls.
    pub fn replace_kernel(&mut self, kernel: Kernel, wgsl: &str) {
        self.kernels.replace(kernel, wgsl);
        // The existing results came from the right kernel.
        self.forget();
    }

    /// Replaces the heatmap by other WGSL, for negative controls.
    pub fn replace_heatmap(&mut self, wgsl: &str) {
        self.heatmap.replace(Some(wgsl));
        self.forget();
    }

    /// Restores all right kernels and the right heatmap.
    pub fn restore_kernels(&mut self) {
        self.kernels.restore();
        self.heatmap.replace(None);
        self.forget();
    }

    /// Invalidates every result of the last Frame.
    fn forget(&mut self) {
        self.shown = None;
        self.steps = Steps::default();
        self.store.clear();
    }
}

/// The picture that a pass draws.
fn drawn_slot(pass: Pass) -> Option<Slot> {
    let mut slots = [Slot::Map, Slot::Strip, Slot::Output].into_iter();
    slots.find(|slot| slot.pass() == pass)
}

impl Engine for GpuEngine {
    fn capabilities(&self) -> &Capabilities {
        &self.context.capabilities
    }

    fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError> {
        let before = self.targets[slot as usize].as_ref().map(Target::size);
        if let Some(target) = &mut self.targets[slot as usize] {
            target.resize(&self.context, width, height)?;
        }
        if before != Some((width, height)) {
            self.redraw(slot);
        }
        Ok(())
    }

    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError> {
        self.healthy()?;
        if frame.config.score_rank.is_some() && frame.score_factors.is_none() {
            return Ok(self.frame); // The last picture stays until the factors arrive.
        }
        self.accept(validated(frame))?;
        // The remaining work now includes the missed picture.
        self.missed = false;
        self.frame += 1;
        self.begin = true;
        let nothing_stale = self.steps.front.is_empty();
        for _ in 0..SUBMITS_PER_DRAW {
            if !self.run_submission(true) {
                break;
            }
        }
        if nothing_stale {
            self.context.announce(self.frame);
        }
        Ok(self.frame)
    }

    fn idle(&mut self) -> bool {
        if self.lost().is_some() {
            return false;
        }
        if std::mem::take(&mut self.missed) {
            self.schedule();
        }
        let _ = self.run_submission(true) || self.run_submission(false);
        self.missed || !(self.steps.front.is_empty() && self.steps.back.is_empty())
    }

    fn is_partial(&self) -> bool {
        self.missed || !self.steps.front.is_empty()
    }

    fn finished(&self) -> u64 {
        self.context.finished()
    }

    fn in_flight(&self) -> u32 {
        self.context.in_flight()
    }

    fn report(&mut self) -> Local<Result<FrameReport, EngineError>> {
        self.read_report()
    }

    fn read_map(&mut self) -> Local<Result<MapValues, EngineError>> {
        while self.run_submission(true) {}
        self.read_texels()
    }

    fn lost(&self) -> Option<EngineError> {
        let errors = &self.context.errors;
        errors.lost().or_else(|| errors.fault())
    }

    fn completed_count(&self) -> Option<u32> {
        self.context.completed_count()
    }
}

impl Drop for GpuEngine {
    fn drop(&mut self) {
        self.dummy.destroy();
        self.unwritten.destroy();
    }
}
