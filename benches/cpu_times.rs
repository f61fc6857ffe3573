//! Prints what the CPU engine takes for its pictures on one core: `cargo bench --bench cpu_times`.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Instant;

use attnscope::attention::config::Config;
use attnscope::attention::layer::{Biases, Input, Layer, Output, Tensor};
use attnscope::engine::cpu::engine::{CpuEngine, Targets};
use attnscope::engine::{ColorTable, Colors, EngineError, Frame, MapView, Pool};
use attnscope::scene::{Quantity, Rect};

/// Numbers without a pattern that matters: only the time is looked at.
fn tensor(shape: &[usize]) -> Tensor {
    let count = shape.iter().product::<usize>();
    let data: Vec<f32> = (0..count)
        .map(|i| ((i * 7919 % 1009) as f32 / 504.5) - 1.0)
        .collect();
    Tensor {
        shape: shape.to_vec(),
        data: data.into(),
    }
}

fn frame(id: u64, len: usize, dim: usize, window: Option<i32>) -> Frame {
    let shape = [12, len, dim];
    let (edge, texels) = (len as u32, (len as u32).min(384));
    let mut config = Config::full(dim);
    (config.visibility.left, config.visibility.right) = (window, window);
    Frame {
        layer: Arc::new(Layer {
            id,
            heads: 12,
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
        config,
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: Some(MapView {
            head: 0,
            quantity: Quantity::Weights,
            rect: Rect {
                row: 0,
                col: 0,
                rows: edge,
                cols: edge,
            },
            texel_rows: if len <= 512 { edge } else { texels },
            texel_cols: if len <= 512 { edge } else { texels },
            pool: Pool::Max,
            colors: Colors {
                table: ColorTable::Cividis,
                range: None,
                ground: [255; 3],
                hatch: [160; 3],
            },
        }),
        strip: None,
        output: None,
    }
}

fn main() -> Result<(), EngineError> {
    let targets = Targets {
        sizes: [(512, 512), (0, 0), (0, 0)],
        hatch_step: 6.0,
    };
    for (id, (len, dim)) in (1u64..).zip([(120, 32), (512, 32), (512, 64), (2048, 64)]) {
        for window in [None, Some(16)] {
            let mut frame = frame(id, len, dim, window);
            let mut engine = CpuEngine::default();
            let mut times = Vec::new();
            let mut first = Vec::new();
            for _ in 0..11 {
                frame.config.scale *= 1.01;
                let start = Instant::now();
                engine.draw(&frame, targets)?;
                engine.step();
                first.push(start.elapsed().as_secs_f64() * 1e3);
                while engine.step() {}
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            for of in [&mut times, &mut first] {
                of.sort_by(f64::total_cmp);
            }
            println!(
                "L {len:4} d_h {dim} window {window:?}: map and colours {:.2} ms (best {:.2}), first piece {:.2} ms",
                times[5], times[0], first[5]
            );
        }
    }
    Ok(())
}
