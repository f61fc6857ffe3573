//! [`GpuEngine`]: the last Frame, what is there of it, and what is left to do.

use std::sync::Arc;

use attnscope_attention::layer::Biases;
use attnscope_engine::bounds::within_bounds;
use attnscope_engine::done::Done;
use attnscope_engine::jobs::{Planner, Work};
use attnscope_engine::needs;
use attnscope_engine::plan::{Pass, Plan};
use attnscope_engine::sizes::{Sizes, StatSizes};
use attnscope_engine::{Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues};
use attnscope_scene::ColorScale;

use super::context::{Context, Options};
use super::heatmap::{Heatmap, Look};
use super::kernel::{Kernel, Kernels};
use super::launch::Launcher;
use super::store::Store;
use super::surface::{Canvas, Target};
use super::variant::Variant;
use attnscope_engine::Slot;
use attnscope_engine::needs::Name;

/// Submits that one `draw` makes before it leaves the rest to `idle`.
const SUBMITS_PER_DRAW: usize = 8;

/// The last Frame and the state of its results.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) frame: Frame,
    pub(super) sizes: Sizes,
    pub(super) stats: StatSizes,
    pub(super) done: Done,
}

/// The WGSL engine. Dropping it frees everything on the device.
pub struct GpuEngine {
    pub(super) store: Store,
    pub(super) kernels: Kernels,
    pub(super) heatmap: Heatmap,
    pub(super) launcher: Launcher,
    pub(super) targets: [Option<Target>; 3],
    pub(super) shown: Option<Shown>,
    /// The unit tensors of P_K and P_V on the device. They are held, so that no other tensor can get
    /// their address.
    units: [Option<Arc<[f32]>>; 2],
    pub(super) canvases: Vec<Canvas>,
    /// What stands in for an absent s, mask or bias.
    pub(super) dummy: wgpu::Buffer,
    /// What stands in for a buffer that is not written.
    pub(super) unwritten: wgpu::Buffer,
    pub(super) frame: u64,
    pub(super) timed_frame: bool,
    pub(super) work: Work,
    pub(super) begin: bool,
    /// Whether a picture found no texture to be drawn to, and how often in a row that was so.
    pub(super) missed: bool,
    pub(super) misses: u32,
    // Last: the device goes after everything made from it.
    pub(super) context: Context,
}

impl GpuEngine {
    /// Asks for a device and prepares what every picture needs. No pipeline is made yet.
    ///
    /// # Errors
    /// [`EngineError::NoWebGpu`], [`EngineError::NoAdapter`] or [`EngineError::NoDevice`].
    pub async fn new(options: Options) -> Result<Self, EngineError> {
        let context = Context::new(options).await?;
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
            work: Work::default(),
            begin: false,
            missed: false,
            misses: 0,
            context,
        })
    }

    /// Puts other WGSL in the place of a kernel, for negative controls.
    pub fn replace_kernel(&mut self, kernel: Kernel, wgsl: &str) {
        self.kernels.replace(kernel, wgsl);
        // What there is was made by the right kernel.
        self.forget();
    }

    /// Puts other WGSL in the place of the heatmap, for negative controls.
    pub fn replace_heatmap(&mut self, wgsl: &str) {
        self.heatmap.replace(Some(wgsl));
        self.forget();
    }

    /// All right kernels and the right heatmap again.
    pub fn restore_kernels(&mut self) {
        self.kernels.restore();
        self.heatmap.replace(None);
        self.forget();
    }

    /// Nothing is there of the last Frame.
    fn forget(&mut self) {
        self.shown = None;
        self.work = Work::default();
        self.store.clear();
    }

    /// What the device complained about since the last call, if anything: always an error of ours.
    pub fn take_fault(&self) -> Option<EngineError> {
        self.context.troubles.take_fault()
    }

    /// What the last Frame was said to need.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn foretold(&self) -> Vec<needs::Need> {
        let shown = self.shown.as_ref();
        shown.map_or_else(Vec::new, |s| needs::needs(&s.frame, &s.sizes, &s.stats))
    }

    /// The buffers that are there: name, bytes, bytes of the largest range that was bound.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn used(&self) -> Vec<(Name, u64, u64)> {
        self.store.used()
    }

    /// Calls `tell` when the device is lost or reports an error.
    pub fn on_loss(&self, tell: fn()) {
        self.context.troubles.on_loss(tell);
    }

    /// Makes the pipelines of the first picture, which has colours of this `scale`, before its numbers
    /// are there.
    pub fn warm_up(&mut self, scale: ColorScale) {
        // The map is whole then.
        let whole = Variant {
            kept: true,
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

    /// Does everything that is left of the last Frame.
    pub fn finish(&mut self) {
        // A surface gives no texture sooner for being asked again at once.
        while self.idle() && !self.missed {}
    }

    /// Draws the large map once more: a browser lets its picture be copied only until it has shown
    /// it.
    pub fn redraw_map(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.done.map_drawn = false;
        }
        self.begin = true;
        self.schedule();
        while self.run_slice(true) {}
    }

    fn healthy(&self) -> Result<(), EngineError> {
        match (
            self.context.troubles.lost(),
            self.context.troubles.take_fault(),
        ) {
            (Some(lost), _) => Err(lost),
            (None, Some(fault)) => Err(fault),
            (None, None) => Ok(()),
        }
    }

    /// Takes `frame` over: forgets what is stale of the last one.
    fn accept(&mut self, frame: Frame) -> Result<(), EngineError> {
        let sizes = Sizes::new(&frame.layer, self.context.allowed)?;
        let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
        needs::check(&frame, &sizes, &stats, self.context.allowed)?;
        let plan = Plan::between(self.shown.as_ref().map(|s| &s.frame), &frame);
        let mut done = match self.shown.take() {
            Some(shown) if !plan.contains(Pass::Layer) => shown.done,
            _ => Done::nothing(sizes.heads, stats.slots),
        };
        done.forget(plan);
        if plan.contains(Pass::Layer) {
            self.store.clear();
        }
        if plan.contains(Pass::Stats) {
            done.stats = vec![None; stats.slots];
        }
        for (pass, names) in [
            (Pass::Factors, &[Name::QFactor, Name::KFactor][..]),
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
            done,
        });
        self.schedule();
        Ok(())
    }

    /// Forgets the units on the device that `biases` replace. An amplitude alone moves without an
    /// upload. At amplitude 0 the unit is not looked at, so the last Frame does not tell which one
    /// the device has.
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
            self.work = Planner {
                frame: &shown.frame,
                sizes: &shown.sizes,
                stats: &shown.stats,
                budget: self.context.budget(),
                keeps_scores: true,
            }
            .work(&shown.done);
        }
    }
}

impl Engine for GpuEngine {
    fn capabilities(&self) -> &Capabilities {
        &self.context.capabilities
    }

    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError> {
        self.healthy()?;
        if frame.config.score_rank.is_some() && frame.score_factors.is_none() {
            return Ok(self.frame); // The last picture stays until the factors are there.
        }
        self.accept(within_bounds(frame))?;
        // What was missed is among what is left now.
        self.missed = false;
        self.frame += 1;
        self.begin = true;
        let nothing_stale = self.work.front.is_empty();
        for _ in 0..SUBMITS_PER_DRAW {
            if !self.run_slice(true) {
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
        let _ = self.run_slice(true) || self.run_slice(false);
        self.missed || !(self.work.front.is_empty() && self.work.back.is_empty())
    }

    fn is_partial(&self) -> bool {
        self.missed || !self.work.front.is_empty()
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
        while self.run_slice(true) {}
        self.read_texels()
    }

    fn lost(&self) -> Option<EngineError> {
        let troubles = &self.context.troubles;
        troubles.lost().or_else(|| troubles.fault())
    }

    fn pulse(&self) -> Option<u32> {
        self.context.pulse()
    }
}

impl Drop for GpuEngine {
    fn drop(&mut self) {
        self.dummy.destroy();
        self.unwritten.destroy();
    }
}
