//! Which part of the engine does a job, and q, k and v, which no other part makes.

use attnscope_kernels::tile::{Matrix, linear};

use crate::attention::layer::Input;
use crate::engine::jobs::{Job, Part, Rows, Step};

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

    fn project(&mut self, shown: &Shown, part: Part, head: usize, rows: Rows) {
        let layer = &shown.frame.layer;
        let (len, dim) = (layer.seq_len, layer.head_dim);
        let to = &mut self.heads[part as usize][head];
        match &layer.input {
            Input::Heads { q, k, v } => {
                let tensor = [q, k, v][part as usize];
                tensor.outer(head).clone_into(to);
            }
            Input::Hidden { x, w_q, w_k, w_v } => {
                let d = x.data.len() / len;
                to.resize(len * dim, 0.0);
                let rows = rows.0 as usize..rows.1 as usize;
                if let Some(map) = [w_q, w_k, w_v][part as usize] {
                    let of = |data| Matrix { data, stride: d };
                    let at = head * dim;
                    let bias = map.bias.as_ref().map(|bias| &bias.data[at..]);
                    let w = of(&map.weight.data[at * d..]);
                    linear(of(&x.data), w, (dim, d), bias, rows, to);
                } else {
                    for i in rows {
                        let from = i * d + head * dim;
                        to[i * dim..(i + 1) * dim].copy_from_slice(&x.data[from..from + dim]);
                    }
                }
            }
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
