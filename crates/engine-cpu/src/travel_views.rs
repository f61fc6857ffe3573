//! How the views of a Frame go over a [`Wire`]: what is looked at, and in which colours.

use attnscope_engine::{ColorTable, Colors, MapView, OutputView, Pool, StripView};
use attnscope_scene::{ColorScale, Quantity, Rect};

use super::wire::Wire;

const QUANTITIES: [Quantity; 2] = [Quantity::Weights, Quantity::Score];
const COLORS: Colors = Colors {
    table: ColorTable::Cividis,
    range: None,
    scale: ColorScale::Linear,
    ground: [0; 3],
};

/// The large map, the strip and the output.
pub fn views<const READ: bool>(
    w: &mut Wire<READ>,
    map: &mut Option<MapView>,
    strip: &mut Option<StripView>,
    output: &mut Option<OutputView>,
) {
    if let Some(map) = w.option(map, || MapView {
        head: 0,
        quantity: Quantity::Weights,
        rect: Rect {
            row: 0,
            col: 0,
            rows: 0,
            cols: 0,
        },
        texel_rows: 0,
        texel_cols: 0,
        pool: Pool::Max,
        colors: COLORS,
    }) {
        let Rect {
            row,
            col,
            rows,
            cols,
        } = &mut map.rect;
        let (down, across) = (&mut map.texel_rows, &mut map.texel_cols);
        w.wholes([&mut map.head, row, col, rows, cols, down, across]);
        w.choice(&mut map.quantity, &QUANTITIES);
        w.choice(&mut map.pool, &[Pool::Max, Pool::Mean]);
        colors(w, &mut map.colors);
    }
    if let Some(strip) = w.option(strip, || StripView {
        quantity: Quantity::Weights,
        texels: 0,
        columns: 0,
        gap: 0,
        colors: COLORS,
    }) {
        w.choice(&mut strip.quantity, &QUANTITIES);
        w.wholes([&mut strip.texels, &mut strip.columns, &mut strip.gap]);
        colors(w, &mut strip.colors);
    }
    if let Some(output) = w.option(output, || OutputView {
        texel_rows: 0,
        texel_cols: 0,
        colors: COLORS,
    }) {
        w.wholes([&mut output.texel_rows, &mut output.texel_cols]);
        colors(w, &mut output.colors);
    }
}

fn colors<const READ: bool>(w: &mut Wire<READ>, colors: &mut Colors) {
    let Colors {
        table,
        range,
        scale,
        ground,
    } = colors;
    let tables = [ColorTable::Cividis, ColorTable::Diverging];
    w.choice(table, &tables);
    if let Some((low, high)) = w.option(range, || (0.0, 0.0)) {
        w.real(low);
        w.real(high);
    }
    w.choice(
        scale,
        &[ColorScale::Linear, ColorScale::Sqrt, ColorScale::Log],
    );
    for byte in ground {
        let mut n = u32::from(*byte);
        w.whole(&mut n);
        *byte = n as u8;
    }
}
