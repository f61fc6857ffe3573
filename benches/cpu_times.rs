//! Prints what the CPU engine takes for its pictures on one core: `cargo bench --bench cpu_times`.
//! Beside it stands a plain loop of a known number of multiply-adds: on a machine that others use
//! too, the ratio to it says more than the time.
#![allow(missing_docs)]

mod common;

use std::hint::black_box;
use std::time::Instant;

use attnscope_attention::config::Reading;
use attnscope_attention::layer::{PositionBias, ScoreBias};
use attnscope_engine::{Engine, EngineError, Frame, Slot};
use attnscope_engine_cpu::CpuEngine;
use common::{frame, map, middle_and_best, tensor};

const RUNS: usize = 41;

/// Milliseconds of 8 million dependent multiply-adds, one number at a time.
fn plain() -> f64 {
    let start = Instant::now();
    let mut sum = 0.0f32;
    for i in 0..8_000_000 {
        sum = sum * black_box(0.999) + i as f32;
    }
    black_box(sum);
    start.elapsed().as_secs_f64() * 1e3
}

/// Full attention, a window, CJAR with P_K and s.
fn kinds(base: &Frame) -> [(&'static str, Frame); 3] {
    let (mut window, mut cjar) = (base.clone(), base.clone());
    let visibility = &mut window.config.visibility;
    (visibility.left, visibility.right) = (Some(16), Some(16));
    let layer = &base.layer;
    cjar.config.reading = Reading::Bias;
    cjar.biases.p_k = Some(PositionBias {
        unit: tensor(&[layer.heads, layer.seq_len, layer.head_dim]),
        amplitude: 0.5,
    });
    cjar.biases.s = Some(ScoreBias::Curve {
        table: tensor(&[2 * layer.seq_len - 1]).data,
        common: 0.0,
    });
    [
        ("full", base.clone()),
        ("window 16", window),
        ("cjar", cjar),
    ]
}

fn main() -> Result<(), EngineError> {
    for (id, (len, dim)) in (1u64..).zip([(24, 32), (120, 32), (512, 32), (512, 64), (2048, 32)]) {
        let mut base = frame(id, 12, len, dim);
        let texels = if len <= 512 { len } else { 384 };
        base.map = Some(map(len as u32, texels as u32));
        for (kind, mut frame) in kinds(&base) {
            let mut engine = CpuEngine::default();
            engine.resize(Slot::Map, 512, 512)?;
            let (mut whole, mut first, mut plains) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..RUNS {
                frame.config.scale *= 1.01;
                let start = Instant::now();
                engine.draw(&frame)?;
                engine.idle();
                first.push(start.elapsed().as_secs_f64() * 1e3);
                while engine.idle() {}
                whole.push(start.elapsed().as_secs_f64() * 1e3);
                plains.push(plain());
            }
            let (middle, best) = middle_and_best(&mut whole);
            let (_, first) = middle_and_best(&mut first);
            let (_, plain) = middle_and_best(&mut plains);
            println!(
                "L {len:4} d_h {dim} {kind:9}: map and colours best {best:6.2} ms, median {middle:6.2}; first piece best {first:6.2}; {:.3} of the plain loop",
                best / plain
            );
        }
    }
    Ok(())
}
