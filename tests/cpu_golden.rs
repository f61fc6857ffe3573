//! Every golden case through the CPU engine, within the tolerance of SPEC 7.
//! `ATTNSCOPE_GOLDEN=<folder> cargo test golden` judges the cases of another folder.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use attnscope::check::judge::held;
use attnscope_attention::compare::{Comparison, Tolerance, compare};
use attnscope_data::case::Case;
use attnscope_data::folder;
use attnscope_engine::Frame;
use attnscope_engine_cpu::engine::{CpuEngine, Targets};
use attnscope_engine_cpu::outputs::Which;
use attnscope_scene::Quantity;
use support::{frame, output, whole_map};

/// The maps of all heads `[H, L, L]` of `frame`.
fn maps(engine: &mut CpuEngine, frame: &Frame) -> Vec<f32> {
    (0..frame.layer.heads)
        .flat_map(|head| {
            let map = Some(whole_map(&frame.layer, head, Quantity::Weights));
            let frame = Frame {
                map,
                ..frame.clone()
            };
            engine.draw(&frame, Targets::default()).unwrap();
            engine.map_values().values
        })
        .collect()
}

/// Everything that `case` expects against what the engine gives.
fn judge(engine: &mut CpuEngine, case: &Case) -> Vec<Comparison> {
    let base = frame(case);
    let (heads, len) = (case.layer.heads, case.layer.seq_len);
    let (dim, d) = (case.layer.head_dim, case.layer.model_dim());
    let mut found = Vec::new();
    let mut check = |what: &str, got: &[f32], want: &[f32]| {
        let what = format!("{} {what}", case.name);
        let first = compare(what.clone(), got, want, Tolerance::ENGINE);
        found.push(held(case, first, |tolerance| {
            compare(what, got, want, tolerance)
        }));
    };
    let a = maps(engine, &base);
    if let Some(want) = &case.expect.a {
        check("A", &a, &want.data);
    }
    if let Some((rows, want)) = &case.expect.a_rows {
        let at = |h: usize| rows.iter().map(move |&i| (h * len + i) * len);
        let rows = (0..heads).flat_map(at).flat_map(|at| &a[at..at + len]);
        check("A rows", &rows.copied().collect::<Vec<_>>(), &want.data);
    }
    let with_output = Frame {
        output: Some(output(&case.layer)),
        ..base
    };
    engine.draw(&with_output, Targets::default()).unwrap();
    if let Some(want) = &case.expect.o {
        let flat = engine.matrix(Which::Heads);
        // [L, d] to [H, L, d_h].
        let at = |h: usize| (0..len).map(move |i| i * d + h * dim);
        let o = (0..heads).flat_map(at).flat_map(|at| &flat[at..at + dim]);
        check("O", &o.copied().collect::<Vec<_>>(), &want.data);
    }
    if let Some(want) = &case.expect.y {
        let which = if with_output.out_factors.is_some() {
            Which::LowRank
        } else {
            Which::Full
        };
        check("Y", engine.matrix(which), &want.data);
    }
    found
}

#[test]
fn golden_cases_through_the_cpu_engine() {
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut engine = CpuEngine::default();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for case in &cases {
        let verdicts = judge(&mut engine, case);
        assert!(!verdicts.is_empty(), "{} expects nothing", case.name);
        judged += verdicts.len();
        wrong.extend(verdicts.into_iter().filter_map(|v| v.check().err()));
    }
    println!("{} cases, {judged} comparisons", cases.len());
    let report: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", report.join("\n"));
    assert!(judged > cases.len());
}

#[test]
fn a_wrong_window_is_told_from_the_right_one() {
    // The judge itself can fail: one key more on the left is another attention.
    let cases = folder::cases(&folder::golden()).unwrap();
    let mut case = cases
        .into_iter()
        .find(|case| case.name == "window-distance-2")
        .expect("the case is there");
    let mut engine = CpuEngine::default();
    assert!(judge(&mut engine, &case).iter().all(Comparison::is_equal));
    case.config.visibility.left = Some(3);
    assert!(
        judge(&mut engine, &case)
            .iter()
            .all(|found| !found.is_equal())
    );
}
