//! Every golden case through the WGSL engine, within the tolerance of SPEC 7.
//! `ATTNSCOPE_GOLDEN=<folder> cargo test golden` judges the cases of another folder.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope_data::folder;

#[test]
fn golden_cases_through_the_gpu() {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut engine = support::engine();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for case in &cases {
        let verdicts = support::judge(&mut engine, case);
        assert!(!verdicts.is_empty(), "{} expects nothing", case.name);
        judged += verdicts.len();
        wrong.extend(verdicts.into_iter().filter_map(|v| v.check().err()));
    }
    println!("{} cases, {judged} comparisons", cases.len());
    let report: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", report.join("\n"));
    assert_eq!(engine.take_fault(), None);
}
