//! The remaining work, tested without a GPU.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::{Job, RowRange, StepPlanner, Steps, row_count};
use crate::cache_state::{CacheState, Units};
use crate::passes::{Pass, Plan};
use crate::sizes::{Allowed, PaddedSizes, StatSizes};
use crate::{ColorTable, Colors, Frame, MapView, OutputView, Pool, StripView};
use attnscope_attention::config::{Config, FullyMasked, Reading};
use attnscope_attention::layer::{Biases, Input, Layer, Output, Tensor};
use attnscope_scene::{ColorScale, Quantity, Rect};

const COLORS: Colors = Colors {
    table: ColorTable::Cividis,
    range: None,
    scale: ColorScale::Linear,
    ground: [0; 3],
};

fn frame(heads: usize, seq_len: usize) -> Frame {
    let none = Tensor::new(&[0], Vec::new()).unwrap();
    let len = seq_len as u32;
    Frame {
        layer: Arc::new(Layer {
            id: 1,
            heads,
            seq_len,
            head_dim: 8,
            input: Input::Heads {
                q: none.clone(),
                k: none.clone(),
                v: none,
            },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        }),
        config: Config::full(8),
        biases: Biases::default(),
        score_factors: None,
        out_factors: None,
        map: Some(MapView {
            head: (heads as u32 - 1).min(1),
            quantity: Quantity::Weights,
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
        }),
        strip: Some(StripView {
            quantity: Quantity::Weights,
            texels: len,
            columns: 2,
            gap: 0,
            colors: COLORS,
        }),
        output: Some(OutputView {
            texel_rows: 4,
            texel_cols: 4,
            colors: COLORS,
        }),
    }
}

/// The cache before anything was computed.
fn nothing(frame: &Frame) -> CacheState {
    CacheState::new(units(frame))
}

fn units(frame: &Frame) -> Units {
    let sizes = PaddedSizes::new(&frame.layer, Allowed::default()).unwrap();
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    Units::of(frame, &sizes, &stats)
}

/// The passes that read the uploads make them.
fn computes(pass: Pass) -> bool {
    !matches!(pass, Pass::Layer | Pass::ScoreFactors | Pass::ScoreBias)
}

fn stats(head: u32, rows: RowRange) -> Job {
    Job::rows(Pass::Stats, head, rows)
}

/// Statistics that write their scores into the texels of the map.
fn scores(head: u32, rows: RowRange) -> Job {
    Job {
        scores_cached: true,
        ..stats(head, rows)
    }
}

/// A map from these scores.
fn weights(rows: RowRange) -> Job {
    Job {
        scores_cached: true,
        ..Job::rows(Pass::Map, 0, rows)
    }
}

fn work(frame: &Frame, done: &CacheState, budget: u64) -> Steps {
    let sizes = PaddedSizes::new(&frame.layer, Allowed::default()).unwrap();
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    StepPlanner {
        frame,
        sizes: &sizes,
        stats: &stats,
        budget,
        computes,
        caches_scores: true,
    }
    .steps(done)
}

fn jobs(work: &Steps) -> (Vec<Job>, Vec<Job>) {
    let of =
        |steps: &std::collections::VecDeque<super::Step>| steps.iter().map(|s| s.job).collect();
    (of(&work.front), of(&work.back))
}

/// Records all of `work` as done.
fn all_done(frame: &Frame, done: &mut CacheState, work: &Steps) {
    for step in work.front.iter().chain(&work.back) {
        done.record(step.job, row_count(step.job.pass, frame));
    }
}

#[test]
fn the_first_picture_waits_for_one_head_only() {
    let frame = frame(3, 16);
    let (front, back) = jobs(&work(&frame, &nothing(&frame), u64::MAX));
    assert_eq!(
        front,
        [
            Job::rows(Pass::Query, 1, (0, 16)),
            Job::rows(Pass::Key, 1, (0, 16)),
            scores(1, (0, 16)),
            weights((0, 16)),
            Job::whole(Pass::DrawMap),
        ]
    );
    assert!(
        back.contains(&Job::rows(Pass::Strip, 2, (0, 16)))
            && back.contains(&Job::rows(Pass::HeadOutput, 0, (0, 16)))
    );
    assert!(
        !back.contains(&stats(1, (0, 16))),
        "the strip uses what the map made"
    );
}

#[test]
fn when_all_is_done_nothing_is_left_until_something_is_stale() {
    let mut before = frame(2, 16);
    let factors = Output::Factors {
        w_1: Tensor::new(&[2, 0], Vec::new()).unwrap(),
        w_2: Tensor::new(&[0, 2], Vec::new()).unwrap(),
        bias: None,
    };
    Arc::get_mut(&mut before.layer).unwrap().output = factors;
    let mut done = nothing(&before);
    let all = work(&before, &done, 1000);
    all_done(&before, &mut done, &all);
    assert_eq!(work(&before, &done, 1000), Steps::default());

    let mut colours = before.clone();
    colours.map.as_mut().unwrap().colors.table = ColorTable::Diverging;
    let mut after = done.clone();
    after.invalidate(Plan::between(Some(&before), &colours), units(&colours));
    assert_eq!(
        jobs(&work(&colours, &after, 1000)),
        (vec![Job::whole(Pass::DrawMap)], vec![])
    );

    let mut rank = before.clone();
    rank.config.out_rank = Some(1);
    let mut after = done.clone();
    after.invalidate(Plan::between(Some(&before), &rank), units(&rank));
    assert_eq!(
        jobs(&work(&rank, &after, u64::MAX)),
        (
            vec![
                Job::rows(Pass::LowRankOutput, 0, (0, 16)),
                Job::whole(Pass::LowTexels),
                Job::whole(Pass::DrawOutput)
            ],
            vec![]
        ),
        "a drag of the rank draws the outputs at once"
    );
}

#[test]
fn long_work_is_cut_into_steps_of_the_budget() {
    let frame = frame(1, 512);
    let budget = 100_000;
    let work = work(&frame, &nothing(&frame), budget);
    let stats: Vec<_> = work
        .front
        .iter()
        .filter(|s| s.job.pass == Pass::Stats)
        .map(|s| (s.job.rows, s.cost))
        .collect();
    assert!(stats.len() > 10);
    assert!(stats.iter().all(|(_, cost)| *cost <= budget));
    assert_eq!(stats[stats.len() - 1].0.1, 512);
    // Only the last block completes the statistics.
    let mut done = nothing(&frame);
    for job in [scores, super::tests::stats] {
        done.record(job(0, stats[0].0), 512);
        assert!(!done.is_valid(Pass::Stats, 0));
        done.record(job(0, stats[stats.len() - 1].0), 512);
        assert!(done.is_valid(Pass::Stats, 0));
    }
}

#[test]
fn scores_are_left_in_texels_only_where_each_has_one_and_is_made_for_the_statistics() {
    let jobs_of = |frame: &Frame| jobs(&work(frame, &nothing(frame), u64::MAX)).0;
    let kept = |frame: &Frame| {
        let jobs = jobs_of(frame);
        let (scores, weights) = (scores(1, (0, 160)), weights((0, 160)));
        let stats = stats(1, (0, 160));
        let map = |job: &Job| job.pass == Pass::Map && !job.scores_cached;
        let kept = jobs.contains(&scores) && jobs.contains(&weights);
        let apart = jobs.contains(&stats) && jobs.iter().any(map);
        assert_ne!(kept, apart, "{jobs:?}");
        kept
    };
    let whole = frame(2, 160);
    assert!(kept(&whole));
    let change = |act: fn(&mut Frame)| {
        let mut frame = whole.clone();
        act(&mut frame);
        frame
    };
    assert!(kept(&change(|f| f.config.reading = Reading::Bias)));
    assert!(kept(&change(|f| f.config.segment = Some(40))));
    assert!(!kept(&change(|f| f.config.segment = Some(2))), "recomputed");
    assert!(!kept(&change(|f| f.config.reading = Reading::Product)));
    assert!(!kept(&change(|f| f.map.as_mut().unwrap().texel_cols = 80)));
    let part = |f: &mut Frame| {
        let map = f.map.as_mut().unwrap();
        map.rect.rows = 159;
        map.texel_rows = 159;
    };
    assert!(!kept(&change(part)));
    // Statistics that are already valid did not store the scores.
    let mut done = nothing(&whole);
    done.record(stats(1, (0, 160)), 160);
    let front = jobs(&work(&whole, &done, u64::MAX)).0;
    assert!(front.contains(&scores(1, (0, 160))), "{front:?}");
}

#[test]
fn a_map_costs_what_its_rows_see_and_not_what_they_could() {
    let cost = |frame: &Frame| {
        let work = work(frame, &nothing(frame), u64::MAX);
        let texels = |s: &&super::Step| matches!(s.job.pass, Pass::Map | Pass::Strip);
        let steps = work.front.iter().chain(&work.back).filter(texels);
        steps.map(|s| s.cost).sum::<u64>()
    };
    let mut full = frame(1, 4096);
    let map = full.map.as_mut().unwrap();
    (map.texel_rows, map.texel_cols) = (512, 512);
    full.strip.as_mut().unwrap().texels = 64;
    let mut window = full.clone();
    (
        window.config.visibility.left,
        window.config.visibility.right,
    ) = (Some(8), Some(8));
    assert!(10 * cost(&window) < cost(&full));
    // A fully masked row then has a weight everywhere.
    window.config.empty = FullyMasked::Mean;
    assert_eq!(cost(&window), cost(&full));
}

#[test]
fn rows_that_see_every_key_are_cut_finer() {
    let mut frame = frame(1, 512);
    let visibility = &mut frame.config.visibility;
    (visibility.left, visibility.right, visibility.globals) = (Some(2), Some(2), 101);
    let budget = 100_000;
    let work = work(&frame, &nothing(&frame), budget);
    let mut next = 0;
    for step in &work.front {
        if step.job.pass == Pass::Stats {
            let (first, end) = step.job.rows;
            assert_eq!(first, next, "rows are left out or done twice");
            assert!(step.cost <= budget, "{step:?}");
            let most = if first < 101 { 8 } else { 64 };
            assert!(end - first <= most, "{step:?}");
            next = end;
        }
    }
    assert_eq!(next, 512);
}
