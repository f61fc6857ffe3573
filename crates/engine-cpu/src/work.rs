//! Which part of the engine does a job, and q, k and v, which no other part makes.

use crate::tile::{Matrix, linear};

use attnscope_attention::layer::Input;
use attnscope_engine::centring::{centred_rows, common_output, common_row};
use attnscope_engine::jobs::{Job, Part, Rows, Step};

use super::engine::{CpuEngine, Shown};

impl CpuEngine {
    /// Notes that `job` is done.
    pub(super) fn note(&mut self, job: Job) {
        if let Some(Shown { frame, sizes, done }) = &mut self.shown {
            let map_rows = frame.map.as_ref().map_or(0, |m| m.texel_rows);
            let strip_rows = frame.strip.as_ref().map_or(0, |s| s.texels);
            done.note(job, sizes.seq_len as u32, map_rows, strip_rows);
        }
    }

    /// Does `job`, or as much of it as `left` allows; returns whether it is done.
    pub(super) fn run(&mut self, job: Job, left: &mut i64) -> bool {
        // Out of its place, so that parts of the engine can be written while it is read.
        let Some(shown) = self.shown.take() else {
            return true;
        };
        let finished = match job {
            Job::Map(rows) => self.map(&shown, rows, left),
            Job::Strip(head, rows) => self.small_map(&shown, head as usize, rows, left),
            _ => {
                self.run_whole(&shown, job);
                true
            }
        };
        self.shown = Some(shown);
        finished
    }

    fn run_whole(&mut self, shown: &Shown, job: Job) {
        match job {
            Job::Project(part, head, rows) => self.project(shown, part, head as usize, rows),
            Job::Attend(head, rows) => self.attend(shown, head as usize, rows),
            Job::Full(rows) => self.full(shown, rows),
            Job::Components(rows) => self.components(shown, rows),
            Job::Partial(at, rows) => self.partial(shown, at, rows),
            Job::LowRank(rows) => self.low_rank(shown, rows),
            Job::Energy => self.energy(shown),
            Job::FullTexels => self.output_texels(shown, false),
            Job::LowTexels => self.output_texels(shown, true),
            Job::DrawMap => self.draw_map_of(shown),
            Job::DrawStrip => self.strip_waits = true,
            Job::DrawOutput => self.draw_output(shown),
            // k', v' and normalisers are made where they are used.
            Job::Bias(..)
            | Job::Stats(..)
            | Job::Scores(..)
            | Job::Map(_)
            | Job::Weights(_)
            | Job::Strip(..) => {}
        }
    }

    /// Rows of q, k or v of one head. Keys lack what they have in common, which stands behind them.
    fn project(&mut self, shown: &Shown, part: Part, head: usize, rows: Rows) {
        let layer = &shown.frame.layer;
        let (len, dim) = (layer.seq_len, layer.head_dim);
        let to = &mut self.heads[part as usize][head];
        let given = match &layer.input {
            Input::Heads { q, k, v } => [q, k, v][part as usize].outer(head).to_vec(),
            Input::Hidden { x, w_q, w_k, w_v } => {
                let d = x.data.len() / len;
                let at = head * dim;
                if let Some(map) = [w_q, w_k, w_v][part as usize] {
                    let (common, centred) = &mut self.input;
                    if common.is_empty() {
                        *common = common_row(&x.data, d);
                        *centred = centred_rows(&x.data, common);
                    }
                    let moved = common_output(map, common, at..at + dim);
                    let of = |data| Matrix { data, stride: d };
                    let w = of(&map.weight.data[at * d..]);
                    // What the bias adds to keys is the same for all of them.
                    let bias = (part != Part::K).then_some(&*moved);
                    let rows = rows.0 as usize..rows.1 as usize;
                    to.resize(len * dim, 0.0);
                    linear(of(centred), w, (dim, d), bias, rows.clone(), to);
                    if part == Part::K && rows.end == len {
                        to.extend(moved);
                    }
                    return;
                }
                let row = |row: &[f32]| row[at..at + dim].to_vec();
                x.data.chunks_exact(d).flat_map(row).collect()
            }
        };
        *to = given;
        if part == Part::K {
            let common = common_row(to, dim);
            *to = centred_rows(to, &common);
            to.extend(common);
        }
    }
}

/// What a step that was done whole has cost, where that is not taken off as it is done.
pub(super) fn taken_after(step: Step) -> i64 {
    match step.job {
        Job::Bias(..)
        | Job::Stats(..)
        | Job::Scores(..)
        | Job::Map(_)
        | Job::Weights(_)
        | Job::Strip(..) => 0,
        _ => step.cost as i64,
    }
}
