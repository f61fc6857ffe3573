//! The pictures: their targets, and drawing the texels of each as tiles.

use attnscope_engine::needs::Name;
use attnscope_engine::sizes::aligned;
use attnscope_engine::steps::Job;
use attnscope_engine::tiles::{Viewport, output_tiles, strip_tile};
use attnscope_engine::{Colors, EngineError, Slot};

use super::engine::{GpuEngine, Shown};
use super::heatmap::{Look, Tile};
use super::launch::{Submission, Timed};
use super::surface::Target;

/// Viewport, texels, first texel, range of the store that has the texels, number of the range.
type TilePlace = (Viewport, (u32, u32), u32, (Name, u64, u64), u64);

impl GpuEngine {
    /// Draws `slot` to a canvas of the page, starting with the next [`GpuEngine::resize`].
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

    /// Stops drawing `slot`.
    pub fn detach(&mut self, slot: Slot) {
        self.targets[slot as usize] = None;
    }

    /// Whether the newest picture of `slot` is on its target.
    pub fn has_drawn(&self, slot: Slot) -> bool {
        let shown = self.shown.as_ref();
        shown.is_some_and(|shown| shown.cache.is_valid(slot.pass(), 0))
    }

    pub(super) fn redraw(&mut self, slot: Slot) {
        if let Some(shown) = &mut self.shown {
            shown.cache.invalidate_pass(slot.pass());
        }
        self.schedule();
    }

    // Each returns whether its picture is done and needs no further try.

    pub(super) fn draw_map(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        _: Job,
        timed: Timed,
    ) -> bool {
        let (Some(map), Some((_, size))) = (&shown.frame.map, self.target(Slot::Map)) else {
            return true;
        };
        let viewport = Viewport {
            x: 0.0,
            y: 0.0,
            width: size.0 as f32,
            height: size.1 as f32,
        };
        let texels = (map.texel_rows, map.texel_cols);
        let tile = (viewport, texels, 0, (Name::MapTexels, 0, 0), 0);
        self.draw_tiles(submission, Slot::Map, map.colors, &[tile], timed)
    }

    pub(super) fn draw_strip(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        _: Job,
        timed: Timed,
    ) -> bool {
        let (Some(strip), Some((_, size))) = (&shown.frame.strip, self.target(Slot::Strip)) else {
            return true;
        };
        let heads = shown.sizes.heads as u32;
        let bytes = aligned(u64::from(strip.texels).pow(2) * 8);
        let tiles: Vec<_> = (0..heads)
            .filter_map(|head| {
                let viewport = strip_tile(size, heads, strip.columns, strip.gap, head)?;
                let texels = (strip.texels, strip.texels);
                let place = (Name::StripTexels, u64::from(head) * bytes, bytes);
                Some((viewport, texels, 0, place, 2 + u64::from(head)))
            })
            .collect();
        self.draw_tiles(submission, Slot::Strip, strip.colors, &tiles, timed)
    }

    pub(super) fn draw_output(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        _: Job,
        timed: Timed,
    ) -> bool {
        let (Some(output), Some((_, size))) = (&shown.frame.output, self.target(Slot::Output))
        else {
            return true;
        };
        let Some([low, full]) = output_tiles(size) else {
            return true;
        };
        let texels = (output.texel_rows, output.texel_cols);
        let half = output.texel_rows * output.texel_cols;
        let place = (Name::OutputTexels, 0, 0);
        let tiles = [(low, texels, 0, place, 1), (full, texels, half, place, 1)];
        self.draw_tiles(submission, Slot::Output, output.colors, &tiles, timed)
    }

    /// Format and size of the target of `slot`, if it can be drawn to.
    fn target(&self, slot: Slot) -> Option<(wgpu::TextureFormat, (u32, u32))> {
        self.targets[slot as usize]
            .as_ref()
            .map(|t| (t.format(), t.size()))
            .filter(|(_, (w, h))| *w > 0 && *h > 0)
    }

    /// Draws the picture of `slot`. Returns true when it is drawn or there is nothing to draw: a
    /// surface without a texture now (lost, outdated, late) may have one for the next frame.
    fn draw_tiles(
        &mut self,
        submission: &mut Submission,
        slot: Slot,
        colors: Colors,
        tiles: &[TilePlace],
        timed: Timed,
    ) -> bool {
        let Some((format, _)) = self.target(slot) else {
            return true;
        };
        // Texels that no pass has written yet are drawn as masked, not as an error.
        if tiles.iter().any(|t| self.store.get(t.3.0).is_none()) {
            return true;
        }
        let shrunk = tiles
            .iter()
            .any(|(v, texels, ..)| texels.0 as f32 > v.height || texels.1 as f32 > v.width);
        let look = Look {
            format,
            shrunk,
            scale: colors.scale,
        };
        self.heatmap.prepare(&self.context, look);
        let canvas = self.targets[slot as usize]
            .as_ref()
            .and_then(|t| t.acquire(&self.context));
        let Some(canvas) = canvas else {
            return false;
        };
        let tiles: Vec<_> = tiles
            .iter()
            .map(
                |&(viewport, texels, offset, (name, at, size), range)| Tile {
                    viewport,
                    texels,
                    offset,
                    values: self.span(name, at, size),
                    range: self.range(range),
                },
            )
            .collect();
        self.heatmap.draw(
            &self.context,
            &self.launcher,
            submission,
            (&canvas.view(), format, timed),
            &colors,
            &tiles,
        );
        self.canvases.push(canvas);
        true
    }
}
