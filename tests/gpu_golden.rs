//! Every golden case through the WGSL engine.
//! `ATTNSCOPE_GOLDEN=<folder> cargo test golden` judges the cases of another folder.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[test]
fn golden_cases_through_the_gpu() {
    let mut engine = support::engine();
    support::judge_golden_cases(&mut engine);
    assert_eq!(engine.take_fault(), None);
}

#[test]
fn a_wrong_window_is_told_from_the_right_one() {
    support::tell_a_wrong_window(&mut support::engine());
}
