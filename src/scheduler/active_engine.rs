//! The engine that draws: the graphics device or the CPU.

use web_sys::HtmlCanvasElement;

use crate::scheduler::cpu_client::CpuClient;
use attnscope_engine::{Capabilities, Engine, EngineError, Frame, FrameReport, Local, MapValues};
use attnscope_engine_gpu::{GpuEngine, Slot};

/// Either engine.
pub enum ActiveEngine {
    /// WGSL. Boxed, since it is much larger than the other.
    Gpu(Box<GpuEngine>),
    /// Rust, in a worker.
    Cpu(CpuClient),
}

impl ActiveEngine {
    /// The CPU engine draws.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Self::Cpu(_))
    }

    /// Finished and total parts of the large map while it is coarse; and whether the small maps
    /// belong to an older Frame. Not asked of the graphics device: it finishes the rest within the
    /// next animation frames.
    pub fn unfinished(&self) -> (Option<(u32, u32)>, bool) {
        match self {
            Self::Gpu(_) => (None, false),
            Self::Cpu(engine) => engine.unfinished(),
        }
    }

    /// Draws `slot` to a canvas from the next [`Engine::resize`] on.
    ///
    /// # Errors
    /// [`EngineError::NoCanvas`] when the canvas gives no WebGPU context.
    pub fn attach_canvas(
        &mut self,
        slot: Slot,
        canvas: HtmlCanvasElement,
    ) -> Result<(), EngineError> {
        match self {
            Self::Gpu(engine) => engine.attach_canvas(slot, canvas)?,
            Self::Cpu(engine) => engine.attach_canvas(slot, canvas),
        }
        Ok(())
    }

    /// The newest picture of `slot` is on its canvas.
    pub fn has_drawn(&self, slot: Slot) -> bool {
        match self {
            Self::Gpu(engine) => engine.has_drawn(slot),
            Self::Cpu(engine) => engine.has_drawn(slot),
        }
    }

    /// Stops drawing `slot`.
    pub fn detach(&mut self, slot: Slot) {
        match self {
            Self::Gpu(engine) => engine.detach(slot),
            Self::Cpu(engine) => engine.detach(slot),
        }
    }

    fn any(&self) -> &dyn Engine {
        match self {
            Self::Gpu(engine) => &**engine,
            Self::Cpu(engine) => engine,
        }
    }

    fn any_mut(&mut self) -> &mut dyn Engine {
        match self {
            Self::Gpu(engine) => &mut **engine,
            Self::Cpu(engine) => engine,
        }
    }
}

impl Engine for ActiveEngine {
    fn capabilities(&self) -> &Capabilities {
        self.any().capabilities()
    }

    fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError> {
        self.any_mut().resize(slot, width, height)
    }

    fn draw(&mut self, frame: &Frame) -> Result<u64, EngineError> {
        self.any_mut().draw(frame)
    }

    fn idle(&mut self) -> bool {
        self.any_mut().idle()
    }

    fn is_partial(&self) -> bool {
        self.any().is_partial()
    }

    fn finished(&self) -> u64 {
        self.any().finished()
    }

    fn in_flight(&self) -> u32 {
        self.any().in_flight()
    }

    fn report(&mut self) -> Local<Result<FrameReport, EngineError>> {
        self.any_mut().report()
    }

    fn read_map(&mut self) -> Local<Result<MapValues, EngineError>> {
        self.any_mut().read_map()
    }

    fn lost(&self) -> Option<EngineError> {
        self.any().lost()
    }

    fn completed_count(&self) -> Option<u32> {
        self.any().completed_count()
    }
}
