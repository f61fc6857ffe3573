//! What is left to do, without a GPU.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::{Job, Part, Planner, Work};
use crate::done::Done;
use crate::plan::Plan;
use crate::sizes::{Allowed, Sizes, StatSizes};
use crate::{ColorTable, Colors, Frame, MapView, OutputView, Pool, StripView};
use attnscope_attention::config::{Config, Empty, Reading};
use attnscope_attention::layer::{Biases, Input, Layer, Output, Tensor};
use attnscope_scene::{ColorScale, Quantity, Rect};

const COLORS: Colors = Colors {
    table: ColorTable::Viridis,
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

fn work(frame: &Frame, done: &Done, budget: u64) -> Work {
    let sizes = Sizes::new(&frame.layer, Allowed::default()).unwrap();
    let stats = StatSizes::new(sizes.seq_len, sizes.heads, &frame.config);
    Planner {
        frame,
        sizes: &sizes,
        stats: &stats,
        budget,
        keeps_scores: true,
    }
    .work(done)
}

fn jobs(work: &Work) -> (Vec<Job>, Vec<Job>) {
    let of =
        |steps: &std::collections::VecDeque<super::Step>| steps.iter().map(|s| s.job).collect();
    (of(&work.front), of(&work.back))
}

/// Notes all of `work` as done.
fn all_done(frame: &Frame, done: &mut Done, work: &Work) {
    let len = frame.layer.seq_len as u32;
    for step in work.front.iter().chain(&work.back) {
        done.note(step.job, len, len, len);
    }
}

#[test]
fn the_first_picture_waits_for_one_head_only() {
    let frame = frame(3, 16);
    let (front, back) = jobs(&work(&frame, &Done::nothing(3, 3), u64::MAX));
    assert_eq!(
        front,
        [
            Job::Project(Part::Q, 1, (0, 16)),
            Job::Project(Part::K, 1, (0, 16)),
            Job::Scores(1, (0, 16)),
            Job::Weights((0, 16)),
            Job::DrawMap,
        ]
    );
    assert!(back.contains(&Job::Strip(2, (0, 16))) && back.contains(&Job::Attend(0, (0, 16))));
    assert!(
        !back.contains(&Job::Stats(1, (0, 16))),
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
    let mut done = Done::nothing(2, 2);
    let all = work(&before, &done, 1000);
    all_done(&before, &mut done, &all);
    assert_eq!(work(&before, &done, 1000), Work::default());

    let mut colours = before.clone();
    colours.map.as_mut().unwrap().colors.table = ColorTable::Cividis;
    let mut after = done.clone();
    after.forget(Plan::between(Some(&before), &colours));
    assert_eq!(
        jobs(&work(&colours, &after, 1000)),
        (vec![Job::DrawMap], vec![])
    );

    let mut rank = before.clone();
    rank.config.out_rank = Some(1);
    let mut after = done.clone();
    after.forget(Plan::between(Some(&before), &rank));
    assert_eq!(
        jobs(&work(&rank, &after, u64::MAX)),
        (
            vec![Job::LowRank((0, 16)), Job::LowTexels, Job::DrawOutput],
            vec![]
        ),
        "a drag of the rank draws the outputs at once"
    );
}

#[test]
fn long_work_is_cut_into_steps_of_the_budget() {
    let frame = frame(1, 512);
    let budget = 100_000;
    let work = work(&frame, &Done::nothing(1, 1), budget);
    let stats: Vec<_> = work
        .front
        .iter()
        .filter_map(|s| match s.job {
            Job::Scores(_, rows) => Some((rows, s.cost)),
            _ => None,
        })
        .collect();
    assert!(stats.len() > 10);
    assert!(stats.iter().all(|(_, cost)| *cost <= budget));
    assert_eq!(stats[stats.len() - 1].0.1, 512);
    // Only the last block makes the statistics whole.
    let mut done = Done::nothing(1, 1);
    for job in [Job::Scores, Job::Stats] {
        done.note(job(0, stats[0].0), 512, 512, 512);
        assert_eq!(done.stats, [None]);
        done.note(job(0, stats[stats.len() - 1].0), 512, 512, 512);
        assert_eq!(done.stats, [Some(0)]);
    }
}

#[test]
fn scores_are_left_in_texels_only_where_each_has_one_and_is_made_for_the_statistics() {
    let jobs_of = |frame: &Frame| jobs(&work(frame, &Done::nothing(2, 2), u64::MAX)).0;
    let kept = |frame: &Frame| {
        let jobs = jobs_of(frame);
        let (scores, weights) = (Job::Scores(1, (0, 160)), Job::Weights((0, 160)));
        let (stats, map) = (Job::Stats(1, (0, 160)), |j: &Job| matches!(j, Job::Map(_)));
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
    // Statistics that are there do not hold the scores.
    let mut done = Done::nothing(2, 2);
    done.note(Job::Stats(1, (0, 160)), 160, 160, 160);
    let front = jobs(&work(&whole, &done, u64::MAX)).0;
    assert!(front.contains(&Job::Scores(1, (0, 160))), "{front:?}");
}

#[test]
fn a_map_costs_what_its_rows_see_and_not_what_they_could() {
    let cost = |frame: &Frame| {
        let work = work(frame, &Done::nothing(1, 1), u64::MAX);
        let texels = |s: &&super::Step| matches!(s.job, Job::Map(_) | Job::Strip(..));
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
    // A row without keys has a weight everywhere then.
    window.config.empty = Empty::Mean;
    assert_eq!(cost(&window), cost(&full));
}

#[test]
fn rows_that_see_every_key_are_cut_finer() {
    let mut frame = frame(1, 512);
    let visibility = &mut frame.config.visibility;
    (visibility.left, visibility.right, visibility.globals) = (Some(2), Some(2), 101);
    let budget = 100_000;
    let work = work(&frame, &Done::nothing(1, 1), budget);
    let mut next = 0;
    for step in &work.front {
        if let Job::Scores(_, (first, end)) = step.job {
            assert_eq!(first, next, "rows are left out or done twice");
            assert!(step.cost <= budget, "{step:?}");
            let most = if first < 101 { 8 } else { 64 };
            assert!(end - first <= most, "{step:?}");
            next = end;
        }
    }
    assert_eq!(next, 512);
}
