//! What the tests of both engines share: a GPU engine on a required adapter, Frames from cases, and
//! test bodies that judge either engine.
//! A missing adapter fails the test; it never skips it.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

pub mod random;
pub mod recipe;
pub mod sequence;
pub mod wanted;

use attnscope::check::judge;
use attnscope_attention::compare::Comparison;
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_engine::{
    Engine, Frame, FrameReport, MapValues, OutputMatrix, ReadResults, Slot, StripView,
};
use attnscope_engine_cpu::CpuEngine;
use attnscope_engine_gpu::GpuEngine;
use attnscope_engine_gpu::readback::Pump;
use attnscope_scene::Quantity;

#[allow(unused_imports)] // Each test file takes what it needs.
pub use attnscope::check::judge::{COLORS, output, whole_map};

/// An engine on the machine's Vulkan adapter; logs the adapter's name.
pub fn engine() -> GpuEngine {
    let engine = pollster::block_on(GpuEngine::new())
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

/// The three pictures.
pub const SLOTS: [Slot; 3] = [Slot::Map, Slot::Strip, Slot::Output];

/// Waits for the result of an engine.
pub trait BlockOn {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
}

impl BlockOn for Pump {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        Self::block_on(self, future)
    }
}

/// For futures that are ready at once.
pub struct Ready;

impl BlockOn for Ready {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        pollster::block_on(future)
    }
}

/// An engine of either kind: one test body judges both.
pub trait Judged: ReadResults + Sized {
    /// Waits for its results.
    fn waiter(&self) -> impl BlockOn + use<Self>;
}

impl Judged for GpuEngine {
    fn waiter(&self) -> impl BlockOn + use<> {
        self.pump()
    }
}

impl Judged for CpuEngine {
    fn waiter(&self) -> impl BlockOn + use<> {
        Ready
    }
}

/// Draws `frame` and reads its map.
pub fn read(engine: &mut impl Judged, frame: &Frame) -> MapValues {
    engine
        .waiter()
        .block_on(judge::read(engine, frame))
        .unwrap()
}

/// The map drawn last, of any Frame.
pub fn map(engine: &mut impl Judged) -> MapValues {
    let values = engine.waiter().block_on(engine.read_map()).unwrap();
    MapValues { frame: 0, ..values }
}

/// The small map of `head` drawn last, of any Frame.
pub fn small_map(engine: &mut impl Judged, head: usize) -> MapValues {
    let values = engine
        .waiter()
        .block_on(engine.read_strip(head as u32))
        .unwrap();
    MapValues { frame: 0, ..values }
}

/// The numbers of the newest picture, of any Frame.
pub fn report(engine: &mut impl Judged) -> FrameReport {
    let report = engine.waiter().block_on(engine.report()).unwrap();
    FrameReport { frame: 0, ..report }
}

/// Sets the sizes of the three pictures.
pub fn resize(engine: &mut impl Engine, sizes: [(u32, u32); 3]) {
    for (slot, (width, height)) in SLOTS.into_iter().zip(sizes) {
        engine.resize(slot, width, height).unwrap();
    }
}

/// O or Y of the Frame drawn last.
pub fn drawn_matrix(engine: &mut impl Judged, which: OutputMatrix) -> Vec<f32> {
    engine.waiter().block_on(engine.read_matrix(which)).unwrap()
}

/// The maps of all heads `[H, L, L]` of `frame`.
pub fn maps(engine: &mut impl Judged, frame: &Frame, quantity: Quantity) -> Vec<f32> {
    engine
        .waiter()
        .block_on(judge::maps(engine, frame, quantity))
        .unwrap()
}

/// O or Y of `frame`.
pub fn matrix(engine: &mut impl Judged, frame: &Frame, which: OutputMatrix) -> Vec<f32> {
    engine
        .waiter()
        .block_on(judge::matrix(engine, frame, which))
        .unwrap()
}

/// Compares everything that `case` expects with what the engine gives.
pub fn judge(engine: &mut impl Judged, case: &Case) -> Vec<Comparison> {
    judge_frame(engine, case, &frame(case))
}

/// As [`judge`], with the [`frame`] of the case.
pub fn judge_frame(engine: &mut impl Judged, case: &Case, frame: &Frame) -> Vec<Comparison> {
    engine
        .waiter()
        .block_on(judge::judge_frame(engine, case, frame))
        .unwrap()
}

/// Every golden case through `engine`, within the tolerance of SPEC 7.
pub fn judge_golden_cases(engine: &mut impl Judged) {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for case in &cases {
        let verdicts = judge(engine, case);
        assert!(!verdicts.is_empty(), "{} expects nothing", case.name);
        judged += verdicts.len();
        wrong.extend(verdicts.into_iter().filter_map(|v| v.check().err()));
    }
    println!("{} cases, {judged} comparisons", cases.len());
    let report: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", report.join("\n"));
    assert!(judged > cases.len());
}

/// The judge itself can fail: one more key on the left is another attention.
pub fn tell_a_wrong_window(engine: &mut impl Judged) {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut case = cases
        .into_iter()
        .find(|case| case.name == "window-distance-2")
        .expect("the case is there");
    assert!(judge(engine, &case).iter().all(Comparison::is_equal));
    case.config.visibility.left = Some(3);
    assert!(judge(engine, &case).iter().all(|found| !found.is_equal()));
}
