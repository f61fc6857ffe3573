//! The pictures: which heatmaps each one has.

use attnscope_engine::Colors;
use attnscope_engine::Slot;
use attnscope_engine::steps::Job;
use attnscope_engine::tiles::{Viewport, output_tiles, strip_tile};

use super::engine::{CpuEngine, Shown};
use super::paint::{Palette, Picture};
use super::texels::Texels;

/// Where a heatmap is, its texels, their range.
type Tile<'a> = (Viewport, &'a Texels, Option<(f32, f32)>);

impl CpuEngine {
    /// The large map, or the part that is done.
    pub(super) fn draw_map(&mut self, shown: &Shown, _: Job, _: &mut i64) -> bool {
        if let Some(map) = &shown.frame.map {
            let (width, height) = self.targets[Slot::Map as usize];
            let viewport = Viewport {
                x: 0.0,
                y: 0.0,
                width: width as f32,
                height: height as f32,
            };
            let tiles = [(viewport, &self.map, self.map.range())];
            self.pictures[Slot::Map as usize] = self.picture(Slot::Map, &map.colors, &tiles);
        }
        true
    }

    pub(super) fn draw_strip(&mut self, shown: &Shown) {
        let Some(strip) = &shown.frame.strip else {
            return;
        };
        let heads = shown.sizes.heads as u32;
        let size = self.targets[Slot::Strip as usize];
        let tiles: Vec<_> = (0..heads)
            .zip(&self.strip)
            .filter_map(|(head, texels)| {
                let viewport = strip_tile(size, heads, strip.columns, strip.gap, head)?;
                Some((viewport, texels, texels.range()))
            })
            .collect();
        self.pictures[Slot::Strip as usize] = self.picture(Slot::Strip, &strip.colors, &tiles);
    }

    pub(super) fn draw_output(&mut self, shown: &Shown, _: Job, _: &mut i64) -> bool {
        let size = self.targets[Slot::Output as usize];
        let (Some(output), Some(viewports)) = (&shown.frame.output, output_tiles(size)) else {
            return true;
        };
        // Only the full output sets the range, so the range does not move with the rank.
        let range = self.output[1].range();
        let [low, full] = viewports;
        let tiles = [
            (low, &self.output[0], range),
            (full, &self.output[1], range),
        ];
        self.pictures[Slot::Output as usize] = self.picture(Slot::Output, &output.colors, &tiles);
        true
    }

    pub(super) fn picture(
        &self,
        slot: Slot,
        colors: &Colors,
        tiles: &[Tile<'_>],
    ) -> Option<Picture> {
        let (width, height) = self.targets[slot as usize];
        if width == 0 || height == 0 {
            return None;
        }
        let mut picture = Picture::new((width, height), colors.ground);
        let mut palette = Palette::new(colors);
        for (viewport, texels, range) in tiles {
            palette.spread(colors, *range);
            picture.draw(*viewport, texels, &palette);
        }
        Some(picture)
    }
}
