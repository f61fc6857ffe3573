//! Fits a Frame to its layer before anything is computed from it.

use crate::Frame;
use crate::sizes::strip_texels;
use attnscope_scene::Rect;

/// `frame` with head, rectangle and texels clamped to the layer.
pub fn validated(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    let len = (frame.layer.seq_len as u32).max(1);
    let width = (frame.layer.model_dim() as u32).max(1);
    if let Some(map) = &mut frame.map {
        map.head = map.head.min((frame.layer.heads as u32).saturating_sub(1));
        map.rect = Rect::visible(Some(map.rect), len);
        map.texel_rows = map.texel_rows.clamp(1, map.rect.rows);
        map.texel_cols = map.texel_cols.clamp(1, map.rect.cols);
    }
    if let Some(strip) = &mut frame.strip {
        strip.texels = strip_texels(frame.layer.seq_len, strip.texels);
    }
    if let Some(output) = &mut frame.output {
        output.texel_rows = output.texel_rows.clamp(1, len);
        output.texel_cols = output.texel_cols.clamp(1, width);
    }
    frame
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{ColorTable, Colors, MapView, Pool};
    use attnscope_attention::config::Config;
    use attnscope_attention::layer::{Biases, Input, Layer, Output, Tensor};
    use attnscope_scene::{ColorScale, Quantity, Scene, View};

    /// A Frame of L = `seq_len` that shows `rect`.
    fn frame(seq_len: usize, rect: Rect) -> Frame {
        let heads = Tensor {
            shape: vec![1, seq_len, 1],
            data: vec![0.0; seq_len].into(),
        };
        let layer = Layer {
            id: 1,
            heads: 1,
            seq_len,
            head_dim: 1,
            input: Input::Heads {
                q: heads.clone(),
                k: heads.clone(),
                v: heads,
            },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        };
        Frame {
            layer: Arc::new(layer),
            config: Config::full(1),
            biases: Biases::default(),
            score_factors: None,
            out_factors: None,
            map: Some(MapView {
                head: 0,
                quantity: Quantity::Weights,
                rect,
                texel_rows: rect.rows,
                texel_cols: rect.cols,
                pool: Pool::Max,
                colors: Colors {
                    table: ColorTable::Cividis,
                    range: None,
                    scale: ColorScale::Linear,
                    ground: [0; 3],
                },
            }),
            strip: None,
            output: None,
        }
    }

    proptest! {
        #[test]
        fn the_picture_shows_the_rectangle_of_the_scene(
            (row, col) in (0..70u32, 0..70u32),
            (rows, cols) in (0..90u32, 0..90u32),
            seq_len in 1..60usize,
        ) {
            let rect = Rect { row, col, rows, cols };
            let scene = Scene {
                view: View { rect: Some(rect), ..View::default() },
                ..Scene::default()
            };
            let wanted = scene.rect(seq_len);
            let map = validated(&frame(seq_len, rect)).map;
            let found = map.map(|map| (map.rect, map.texel_rows <= wanted.rows, map.texel_cols <= wanted.cols));
            prop_assert_eq!(found, Some((wanted, true, true)));
        }
    }
}
