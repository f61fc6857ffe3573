//! Where the pictures of an engine go, and their sizes.

use attnscope_engine::EngineError;

use super::engine::GpuEngine;
use super::surface::Target;
use attnscope_engine::Slot;

impl GpuEngine {
    /// Draws `slot` to a canvas of the page from the next [`GpuEngine::resize`] on.
    ///
    /// # Errors
    /// [`EngineError::NoCanvas`] when the canvas gives no WebGPU context.
    #[cfg(target_arch = "wasm32")]
    pub fn attach_canvas(
        &mut self,
        slot: Slot,
        canvas: web_sys::HtmlCanvasElement,
    ) -> Result<(), EngineError> {
        self.targets[slot as usize] = Some(Target::canvas(&self.context, canvas)?);
        self.redraw(slot);
        Ok(())
    }

    /// Draws `slot` to a texture that [`GpuEngine::read_pixels`] can read.
    ///
    /// # Errors
    /// [`EngineError::EmptyCanvas`], or [`EngineError::TooLarge`] beyond the device's textures.
    pub fn attach_texture(
        &mut self,
        slot: Slot,
        width: u32,
        height: u32,
    ) -> Result<(), EngineError> {
        self.targets[slot as usize] = Some(Target::texture(&self.context, width, height)?);
        self.redraw(slot);
        Ok(())
    }

    /// Gives the target of `slot` another size in device pixels; zero takes it out of use. The
    /// picture is drawn by the next `draw` or `idle`.
    ///
    /// # Errors
    /// [`EngineError::TooLarge`] beyond the device's texture size, [`EngineError::NoCanvas`] when the
    /// canvas cannot be drawn to.
    pub fn resize(&mut self, slot: Slot, width: u32, height: u32) -> Result<(), EngineError> {
        let before = self.targets[slot as usize].as_ref().map(Target::size);
        if let Some(target) = &mut self.targets[slot as usize] {
            target.resize(&self.context, width, height)?;
        }
        if before != Some((width, height)) {
            self.redraw(slot);
        }
        Ok(())
    }

    /// Draws `slot` no more.
    pub fn detach(&mut self, slot: Slot) {
        self.targets[slot as usize] = None;
    }

    /// Whether the newest picture of `slot` is on its target.
    pub fn has_drawn(&self, slot: Slot) -> bool {
        self.shown.as_ref().is_some_and(|shown| match slot {
            Slot::Map => shown.done.map_drawn,
            Slot::Strip => shown.done.strip_drawn,
            Slot::Output => shown.done.output_drawn,
        })
    }

    fn redraw(&mut self, slot: Slot) {
        if let Some(shown) = &mut self.shown {
            match slot {
                Slot::Map => shown.done.map_drawn = false,
                Slot::Strip => shown.done.strip_drawn = false,
                Slot::Output => shown.done.output_drawn = false,
            }
        }
        self.schedule();
    }
}
