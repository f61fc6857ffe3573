//! The parts of a Scene that are on screen, as the engine's views.

use crate::components::legend;
use crate::layout::strip::{GAP, StripGrid};
use crate::scheduler::canvases::{CanvasSlot, Canvases};
use attnscope_engine::{ColorTable, Colors, MapView, Pool, StripView};
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{ColorScale, Scene};

/// The large map of the chosen head; `None` without a canvas.
pub fn map_view(scene: &Scene, sizes: Sizes, head: usize, canvases: &Canvases) -> Option<MapView> {
    let (width, height) = canvases.size(CanvasSlot::Map)?;
    let rect = scene.rect(sizes.seq_len);
    Some(MapView {
        head: head as u32,
        quantity: scene.view.quantity,
        rect,
        texel_rows: rect.rows.min(height),
        texel_cols: rect.cols.min(width),
        pool: Pool::Max,
        colors: map_colors(scene, sizes.seq_len, canvases),
    })
}

/// The small maps, at the size of their canvas; `None` without one.
pub fn strip_view(
    scene: &Scene,
    sizes: Sizes,
    canvases: &Canvases,
    grid: StripGrid,
) -> Option<StripView> {
    let (width, _) = canvases.size(CanvasSlot::Strip)?;
    let css = grid.size().0;
    if css < 1.0 {
        return None;
    }
    let ratio = f64::from(width) / css;
    let edge = (grid.edge * ratio).round().max(1.0) as u32;
    Some(StripView {
        quantity: scene.view.quantity,
        texels: (sizes.seq_len as u32).min(edge),
        columns: grid.columns,
        gap: (GAP * ratio).round() as u32,
        colors: Colors {
            range: None,
            ..map_colors(scene, sizes.seq_len, canvases)
        },
    })
}

/// Colours of the large map, as the legend shows them.
fn map_colors(scene: &Scene, seq_len: usize, canvases: &Canvases) -> Colors {
    Colors {
        range: legend::range(scene),
        scale: scene.color_scale(seq_len),
        ..colors(legend::table(scene), canvases)
    }
}

/// Linear colours on the page's background, over the range of their picture.
pub fn colors(table: ColorTable, canvases: &Canvases) -> Colors {
    Colors {
        table,
        range: None,
        scale: ColorScale::Linear,
        ground: canvases.ground(),
    }
}
