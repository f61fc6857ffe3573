//! What the GPU tests share: an engine on a required adapter, Frames from cases, maps of all heads.
//! An adapter that is missing fails the test; it never skips it.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod random;
pub mod recipe;
pub mod wanted;

use std::sync::Arc;

use attnscope::attention::compare::{Comparison, Tolerance, compare};
use attnscope::attention::layer::Layer;
use attnscope::attention::low_rank;
use attnscope::data::case::Case;
use attnscope::engine::gpu::readback::Matrix;
use attnscope::engine::gpu::{GpuEngine, Options};
use attnscope::engine::{
    ColorTable, Colors, Engine, Frame, MapValues, MapView, OutputView, Pool, StripView,
};
use attnscope::scene::{Quantity, Rect};

/// An engine on the machine's Vulkan adapter; its name goes to the log.
pub fn engine() -> GpuEngine {
    let engine = pollster::block_on(GpuEngine::new(Options::default()))
        .expect("the GPU tests need a Vulkan adapter (on Debian: apt install mesa-vulkan-drivers)");
    let can = engine.capabilities();
    println!("adapter: {} ({})", can.adapter, can.backend);
    engine
}

pub const COLORS: Colors = Colors {
    table: ColorTable::Viridis,
    range: None,
    ground: [255, 255, 255],
    hatch: [128, 128, 128],
};

/// The Frame of a case, factors included, with nothing on screen yet.
pub fn frame(case: &Case) -> Frame {
    let layer = Arc::new(case.layer.clone());
    let score_factors = case
        .config
        .score_rank
        .map(|_| Arc::new(low_rank::score_factors(&layer, &case.biases).expect("score factors")));
    let out_factors = match (&layer.output, case.config.out_rank) {
        (attnscope::attention::layer::Output::Full(linear), Some(_)) => Some(Arc::new(
            low_rank::out_factors(&linear.weight).expect("output factors"),
        )),
        _ => None,
    };
    Frame {
        layer,
        config: case.config.clone(),
        biases: case.biases.clone(),
        score_factors,
        out_factors,
        map: None,
        strip: None,
        output: None,
    }
}

/// The whole map of `head`, one texel per cell.
pub fn whole_map(layer: &Layer, head: usize, quantity: Quantity) -> MapView {
    let len = layer.seq_len as u32;
    MapView {
        head: head as u32,
        quantity,
        rect: Rect {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        },
        texel_rows: len,
        texel_cols: len,
        pool: Pool::Max,
        colors: COLORS,
    }
}

pub fn strip(texels: u32) -> StripView {
    StripView {
        quantity: Quantity::Weights,
        texels,
        columns: 6,
        gap: 2,
        colors: COLORS,
    }
}

pub fn output(layer: &Layer) -> OutputView {
    OutputView {
        texel_rows: layer.seq_len as u32,
        texel_cols: layer.model_dim() as u32,
        colors: Colors {
            table: ColorTable::Diverging,
            ..COLORS
        },
    }
}

/// Draws `frame` and reads its map.
pub fn read(engine: &mut GpuEngine, frame: &Frame) -> MapValues {
    engine.draw(frame).unwrap();
    let map = engine.read_map();
    engine.block_on(map).unwrap()
}

/// The maps of all heads `[H, L, L]` of `frame`.
pub fn maps(engine: &mut GpuEngine, frame: &Frame, quantity: Quantity) -> Vec<f32> {
    (0..frame.layer.heads)
        .flat_map(|head| {
            let frame = Frame {
                map: Some(whole_map(&frame.layer, head, quantity)),
                ..frame.clone()
            };
            read(engine, &frame).values
        })
        .collect()
}

/// O or Y of `frame`.
pub fn matrix(engine: &mut GpuEngine, frame: &Frame, which: Matrix) -> Vec<f32> {
    let frame = Frame {
        output: Some(output(&frame.layer)),
        ..frame.clone()
    };
    engine.draw(&frame).unwrap();
    let future = engine.read_matrix(which);
    engine.block_on(future).unwrap()
}

/// Everything that `case` expects against what the engine gives.
pub fn judge(engine: &mut GpuEngine, case: &Case) -> Vec<Comparison> {
    judge_frame(engine, case, &frame(case))
}

/// As [`judge`], with the [`frame`] of the case.
pub fn judge_frame(engine: &mut GpuEngine, case: &Case, frame: &Frame) -> Vec<Comparison> {
    let (heads, len) = (case.layer.heads, case.layer.seq_len);
    let mut found = Vec::new();
    let mut check = |what: &str, got: &[f32], want: &[f32]| {
        found.push(compare(
            format!("{} {what}", case.name),
            got,
            want,
            Tolerance::ENGINE,
        ));
    };
    if case.expect.a.is_some() || case.expect.a_rows.is_some() {
        let a = maps(engine, frame, Quantity::Weights);
        if let Some(want) = &case.expect.a {
            check("A", &a, &want.data);
        }
        if let Some((rows, want)) = &case.expect.a_rows {
            let got: Vec<f32> = (0..heads)
                .flat_map(|h| rows.iter().map(move |&i| (h * len + i) * len))
                .flat_map(|at| &a[at..at + len])
                .copied()
                .collect();
            check("A rows", &got, &want.data);
        }
    }
    if let Some(want) = &case.expect.o {
        let flat = matrix(engine, frame, Matrix::Heads);
        let (dim, d) = (case.layer.head_dim, case.layer.model_dim());
        // [L, d] to [H, L, d_h].
        let got: Vec<f32> = (0..heads)
            .flat_map(|h| (0..len).map(move |i| i * d + h * dim))
            .flat_map(|at| &flat[at..at + dim])
            .copied()
            .collect();
        check("O", &got, &want.data);
    }
    if let Some(want) = &case.expect.y {
        let which = if frame.out_factors.is_some() {
            Matrix::LowRank
        } else {
            Matrix::Full
        };
        check("Y", &matrix(engine, frame, which), &want.data);
    }
    found
}
