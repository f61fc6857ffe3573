//! What the GPU tests share: an engine on a required adapter, Frames from cases, maps of all heads.
//! An adapter that is missing fails the test; it never skips it.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod random;
pub mod recipe;
pub mod sequence;
pub mod wanted;

use attnscope::check::judge;
use attnscope_attention::compare::Comparison;
use attnscope_data::case::Case;
use attnscope_engine::{Engine, Frame, MapValues, StripView};
use attnscope_engine_gpu::readback::Matrix;
use attnscope_engine_gpu::{GpuEngine, Options};
use attnscope_scene::Quantity;

#[allow(unused_imports)] // Each test file takes what it needs.
pub use attnscope::check::judge::{COLORS, output, whole_map};

/// An engine on the machine's Vulkan adapter; its name goes to the log.
pub fn engine() -> GpuEngine {
    let engine = pollster::block_on(GpuEngine::new(Options::default()))
        .expect("the GPU tests need a Vulkan adapter (on Debian: apt install mesa-vulkan-drivers)");
    let can = engine.capabilities();
    println!("adapter: {} ({})", can.adapter, can.backend);
    engine
}

/// The Frame of a case, factors included, with nothing on screen yet.
pub fn frame(case: &Case) -> Frame {
    judge::frame(case).expect("factors")
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

/// Draws `frame` and reads its map.
pub fn read(engine: &mut GpuEngine, frame: &Frame) -> MapValues {
    engine.pump().block_on(judge::read(engine, frame)).unwrap()
}

/// The maps of all heads `[H, L, L]` of `frame`.
pub fn maps(engine: &mut GpuEngine, frame: &Frame, quantity: Quantity) -> Vec<f32> {
    engine
        .pump()
        .block_on(judge::maps(engine, frame, quantity))
        .unwrap()
}

/// O or Y of `frame`.
pub fn matrix(engine: &mut GpuEngine, frame: &Frame, which: Matrix) -> Vec<f32> {
    engine
        .pump()
        .block_on(judge::matrix(engine, frame, which))
        .unwrap()
}

/// Everything that `case` expects against what the engine gives.
pub fn judge(engine: &mut GpuEngine, case: &Case) -> Vec<Comparison> {
    judge_frame(engine, case, &frame(case))
}

/// As [`judge`], with the [`frame`] of the case.
pub fn judge_frame(engine: &mut GpuEngine, case: &Case, frame: &Frame) -> Vec<Comparison> {
    let pump = engine.pump();
    pump.block_on(judge::judge_frame(engine, case, frame))
        .unwrap()
}
