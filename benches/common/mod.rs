//! What both benches measure on: layers of a plain size, and the whole map of one head.

use std::sync::Arc;

use attnscope_attention::config::Config;
use attnscope_attention::layer::{Biases, Input, Layer, Output, Tensor};
use attnscope_engine::{ColorTable, Colors, Frame, MapView, Pool};
use attnscope_scene::{ColorScale, Quantity, Rect};

/// Colours of everything that is drawn.
pub const COLORS: Colors = Colors {
    table: ColorTable::Cividis,
    range: None,
    scale: ColorScale::Linear,
    ground: [255, 255, 255],
};

/// Numbers without a pattern that matters: only the time is looked at.
pub fn tensor(shape: &[usize]) -> Tensor {
    let count = shape.iter().product::<usize>();
    let data: Vec<f32> = (0..count)
        .map(|i| ((i * 7919 % 1009) as f32 / 504.5) - 1.0)
        .collect();
    Tensor {
        shape: shape.to_vec(),
        data: data.into(),
    }
}

/// Full attention of `heads` heads, nothing on screen.
pub fn frame(id: u64, heads: usize, len: usize, dim: usize) -> Frame {
    let shape = [heads, len, dim];
    Frame {
        layer: Arc::new(Layer {
            id,
            heads,
            seq_len: len,
            head_dim: dim,
            input: Input::Heads {
                q: tensor(&shape),
                k: tensor(&shape),
                v: tensor(&shape),
            },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        }),
        config: Config::full(dim),
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: None,
        strip: None,
        output: None,
    }
}

/// The whole map of head 0.
pub fn map(len: u32, texels: u32) -> MapView {
    MapView {
        head: 0,
        quantity: Quantity::Weights,
        rect: Rect {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        },
        texel_rows: texels,
        texel_cols: texels,
        pool: Pool::Max,
        colors: COLORS,
    }
}

/// The middle one of `times`, and the shortest.
pub fn middle_and_best(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |n: usize| times.get(n).copied().unwrap_or(f64::NAN);
    (at(times.len() / 2), at(0))
}
