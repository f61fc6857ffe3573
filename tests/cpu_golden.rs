//! Every golden case through the CPU engine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_engine_cpu::CpuEngine;

#[test]
fn golden_cases_through_the_cpu_engine() {
    support::judge_golden_cases(&mut CpuEngine::default());
}

#[test]
fn a_wrong_window_is_told_from_the_right_one() {
    support::tell_a_wrong_window(&mut CpuEngine::default());
}
