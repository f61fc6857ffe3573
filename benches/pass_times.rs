//! Prints what each part of a frame costs on this machine's Vulkan adapter:
//! `cargo bench --bench pass_times`, or only the lines that hold a text: `… -- 'L 512 d_h 32: draw'`.
#![allow(missing_docs)]

mod common;

use std::sync::Arc;
use std::time::Instant;

use attnscope_attention::layer::{Layer, Linear, Output};
use attnscope_engine::{ColorTable, Engine, EngineError, Frame, OutFactors, OutputView, StripView};
use attnscope_engine_gpu::{GpuEngine, Slot};
use attnscope_scene::Quantity;
use common::{COLORS, frame, map, middle_and_best, tensor};

/// Draws `frames` in turn, everything finished each time; prints median and best.
fn time(engine: &mut GpuEngine, what: &str, frames: &[Frame]) -> Result<(), EngineError> {
    let unwanted = |wanted: &String| !wanted.starts_with('-') && !what.contains(wanted.as_str());
    if std::env::args().skip(1).any(|wanted| unwanted(&wanted)) {
        return Ok(());
    }
    let mut wall = Vec::new();
    let mut gpu = Vec::new();
    for frame in frames.iter().cycle().take(30) {
        let start = Instant::now();
        engine.draw(frame)?;
        engine.finish();
        let report = engine.report();
        let report = engine.block_on(report)?;
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        gpu.extend(report.gpu_ms);
    }
    let (middle, best) = middle_and_best(&mut wall);
    let (gpu, _) = middle_and_best(&mut gpu);
    println!("{what:42} wall {middle:8.2} ms (best {best:8.2})   gpu {gpu:8.2} ms");
    Ok(())
}

/// A drag of the output rank: low-rank Y, its texels, the drawing; and the drawing alone.
fn rank(engine: &mut GpuEngine, name: &str, output: &Frame) -> Result<(), EngineError> {
    let d = output.layer.model_dim();
    let square = tensor(&[d, d]);
    let mut frame = output.clone();
    frame.out_factors = Some(Arc::new(OutFactors {
        id: output.layer.id,
        w_1: square.clone(),
        w_2: square.clone(),
        sigma: vec![1.0; d].into(),
    }));
    frame.layer = Arc::new(Layer {
        id: output.layer.id + 100,
        output: Output::Full(Linear {
            weight: square,
            bias: None,
        }),
        ..(*output.layer).clone()
    });
    let at = |rank: usize| {
        let mut frame = frame.clone();
        frame.config.out_rank = Some(rank as u32);
        frame
    };
    engine.attach_texture(Slot::Output, 192, 122)?;
    for ranks in [[1, 2], [31, 30], [d / 2, d / 2 + 31], [1, d - 1]] {
        let what = format!("{name}: output at ranks {ranks:?}");
        time(engine, &what, &ranks.map(at))?;
    }
    let mut colors = [at(1), at(1)];
    if let Some(output) = &mut colors[1].output {
        output.colors.table = ColorTable::Diverging;
    }
    time(engine, &format!("{name}: output, draw only"), &colors)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = pollster::block_on(GpuEngine::new())?;
    println!("{:?}", engine.capabilities());
    engine.attach_texture(Slot::Map, 600, 600)?;
    for (id, (len, dim)) in (1u64..).zip([(120, 32), (512, 32), (512, 64), (2048, 64)]) {
        let base = frame(id, 12, len, dim);
        let texels = (len as u32).min(1024);
        let with = |scale: f64, left: Option<i32>| {
            let mut frame = base.clone();
            frame.map = Some(map(len as u32, texels));
            frame.config.scale *= scale;
            frame.config.visibility.left = left;
            frame.config.visibility.right = left;
            frame
        };
        let name = format!("L {len} d_h {dim}");
        let full = [with(1.0, None), with(1.1, None)];
        time(
            &mut engine,
            &format!("{name}: statistics, map, draw"),
            &full,
        )?;
        let windowed = [with(1.0, Some(16)), with(1.1, Some(16))];
        time(
            &mut engine,
            &format!("{name}: the same, window 16"),
            &windowed,
        )?;
        let mut colors = [full[0].clone(), full[0].clone()];
        if let Some(map) = &mut colors[1].map {
            map.colors.table = ColorTable::Diverging;
        }
        time(&mut engine, &format!("{name}: draw only"), &colors)?;
        let mut quantity = [full[0].clone(), full[0].clone()];
        if let Some(map) = &mut quantity[1].map {
            map.quantity = Quantity::Score;
        }
        time(&mut engine, &format!("{name}: map, draw"), &quantity)?;
        if len > 512 {
            continue;
        }
        let strip = full.clone().map(|f| Frame {
            map: None,
            strip: Some(StripView {
                quantity: Quantity::Weights,
                texels: texels.min(96),
                columns: 12,
                gap: 2,
                colors: COLORS,
            }),
            ..f
        });
        time(&mut engine, &format!("{name}: strip of 12 heads"), &strip)?;
        let output = full.clone().map(|f| Frame {
            map: None,
            output: Some(OutputView {
                texel_rows: if len == 120 { 60 } else { 86 },
                texel_cols: 192,
                colors: COLORS,
            }),
            ..f
        });
        time(&mut engine, &format!("{name}: output of 12 heads"), &output)?;
        rank(&mut engine, &name, &output[0])?;
    }
    Ok(())
}
