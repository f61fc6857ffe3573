//! What is left to do for a Frame, as steps small enough for one submit each. Pure: made from what
//! is already there and what is to be seen.

use std::collections::VecDeque;

use crate::attention::layer::{Output, Tensor};
use crate::engine::sizes::{Sizes, StatSizes, blocks, keys_per_row, partial_sums};
use crate::engine::{Frame, MapView};

use super::done::Done;

/// Half-open range of rows (of a head, or of texels).
pub type Rows = (u32, u32);

/// q, k or v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Queries.
    Q,
    /// Keys.
    K,
    /// Values.
    V,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// q, k or v of one head.
    Project(Part, u32, Rows),
    /// k' (K) or v' (V) of one head.
    Bias(Part, u32),
    /// Row statistics of one head.
    Stats(u32, Rows),
    /// Texel rows of the large map.
    Map(Rows),
    /// Texel rows of one small map.
    Strip(u32, Rows),
    /// Rows of O of one head.
    Attend(u32, Rows),
    /// Rows of Y.
    Full(Rows),
    /// Rows of T = O W_1ᵀ.
    Components(Rows),
    /// Rows of a partial sum of the low-rank Y.
    Partial(u32, Rows),
    /// Rows of the low-rank Y.
    LowRank(Rows),
    /// ‖T_c‖² and ‖Y‖².
    Energy,
    /// Texels of Y.
    FullTexels,
    /// Texels of its low-rank twin.
    LowTexels,
    /// The large map's colours.
    DrawMap,
    /// The strip's colours.
    DrawStrip,
    /// The output maps' colours.
    DrawOutput,
}

/// A job and its estimated multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub job: Job,
    /// Estimated multiply-adds.
    pub cost: u64,
}

/// Steps in order: first what the large map waits for, then the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Up to and including the large map on its target.
    pub front: VecDeque<Step>,
    /// What can wait: strip, output.
    pub back: VecDeque<Step>,
}

/// Makes [`Work`].
pub struct Planner<'a> {
    /// What is to be seen.
    pub frame: &'a Frame,
    /// Sizes of its layer.
    pub sizes: &'a Sizes,
    /// Sizes of its statistics.
    pub stats: &'a StatSizes,
    /// Multiply-adds of one submit.
    pub budget: u64,
}

impl Planner<'_> {
    /// What is left to do when `done` is there.
    pub fn work(&self, done: &Done) -> Work {
        // What will be there when all steps so far are through.
        let mut then = done.clone();
        let mut work = Work::default();
        if let Some(map) = &self.frame.map {
            if !then.map {
                self.prepare(&mut then, map.head, &mut work.front);
                let per_row =
                    self.texel_cost(map.rect.rows, map.texel_rows) * u64::from(map.rect.cols);
                push(
                    &mut work.front,
                    map.texel_rows,
                    per_row,
                    self.budget,
                    Job::Map,
                );
                then.map_drawn = false;
            }
            if !then.map_drawn {
                work.front.push_back(step(Job::DrawMap, 0));
            }
        }
        let ranks_only = self.frame.output.is_some()
            && then.full
            && !then.low_texels
            && then.attended.iter().all(|&a| a);
        if ranks_only {
            // A drag of the output rank: the outputs are the picture that moves.
            self.output(&mut then, &mut work.front);
        }
        self.strip(&mut then, &mut work.back);
        self.output(&mut then, &mut work.back);
        work
    }

    fn strip(&self, then: &mut Done, out: &mut VecDeque<Step>) {
        let Some(strip) = &self.frame.strip else {
            return;
        };
        for head in 0..self.sizes.heads as u32 {
            if then.strip[head as usize] {
                continue;
            }
            self.prepare(then, head, out);
            let len = self.sizes.seq_len as u32;
            let per_row = self.texel_cost(len, strip.texels) * u64::from(len);
            push(out, strip.texels, per_row, self.budget, |rows| {
                Job::Strip(head, rows)
            });
            out.push_back(step(Job::DrawStrip, 0));
            then.strip_drawn = true;
        }
        if !then.strip_drawn {
            out.push_back(step(Job::DrawStrip, 0));
        }
    }

    fn output(&self, then: &mut Done, out: &mut VecDeque<Step>) {
        if self.frame.output.is_none() {
            return;
        }
        let rows = self.sizes.seq_len as u32;
        let d = self.model_dim();
        for head in 0..self.sizes.heads as u32 {
            if then.attended[head as usize] {
                continue;
            }
            self.prepare(then, head, out);
            self.project(then, Part::V, head, out);
            if has_bias(self.frame, Part::V) && !then.v_biased[head as usize] {
                out.push_back(step(Job::Bias(Part::V, head), u64::from(rows)));
                then.v_biased[head as usize] = true;
            }
            let chunks = self.sizes.head_stride.div_ceil(8) as u64;
            let per_row = self.score_row() * (chunks + 1);
            push(out, rows, per_row, self.budget, |r| Job::Attend(head, r));
            then.attended[head as usize] = true;
        }
        let factors = factors(self.frame).is_some();
        if !then.full && !matches!(self.frame.layer.output, Output::Factors { .. }) {
            push(out, rows, d * d, self.budget, Job::Full);
            then.full = true;
        }
        if factors && !then.components {
            push(out, rows, d * d, self.budget, Job::Components);
            then.components = true;
            then.partials = 0;
            then.low_rank = false;
        }
        if !then.full {
            push(out, rows, d * d, self.budget, Job::Full);
            then.full = true;
        }
        if factors && low_rank(self.frame).is_some() && !then.low_rank {
            let all = components(self.frame);
            let rank = low_rank(self.frame).unwrap_or(all).min(all);
            let sums = partial_sums(self.sizes, all);
            let before = sums.before(rank);
            for part in then.partials..before {
                push(out, rows, d * u64::from(sums.step), self.budget, |r| {
                    Job::Partial(part, r)
                });
            }
            then.partials = then.partials.max(before);
            let rest = u64::from(rank - before * sums.step);
            push(out, rows, d * rest, self.budget, Job::LowRank);
            then.low_rank = true;
        }
        if !then.energy {
            out.push_back(step(Job::Energy, u64::from(rows) * d));
            then.energy = true;
        }
        if !then.full_texels {
            out.push_back(step(Job::FullTexels, u64::from(rows) * d));
            then.full_texels = true;
            then.output_drawn = false;
        }
        // While the factors of an asked-for rank are missing the upper map stays as it is.
        if !then.low_texels && (factors || low_rank(self.frame).is_none()) {
            out.push_back(step(Job::LowTexels, u64::from(rows) * d));
            then.low_texels = true;
            then.output_drawn = false;
        }
        if !then.output_drawn {
            out.push_back(step(Job::DrawOutput, 0));
            then.output_drawn = true;
        }
    }

    /// q, k, k' and statistics of `head`.
    fn prepare(&self, then: &mut Done, head: u32, out: &mut VecDeque<Step>) {
        let at = head as usize;
        if self.frame.config.score_rank.is_none() {
            self.project(then, Part::Q, head, out);
            self.project(then, Part::K, head, out);
            if has_bias(self.frame, Part::K) && !then.k_biased[at] {
                out.push_back(step(Job::Bias(Part::K, head), self.sizes.seq_len as u64));
                then.k_biased[at] = true;
            }
        }
        let slot = at % self.stats.slots;
        if then.stats[slot] != Some(head) {
            let rows = self.sizes.seq_len as u32;
            push(out, rows, self.score_row(), self.budget, |r| {
                Job::Stats(head, r)
            });
            then.stats[slot] = Some(head);
        }
    }

    fn project(&self, then: &mut Done, part: Part, head: u32, out: &mut VecDeque<Step>) {
        let there = match part {
            Part::Q => &mut then.q,
            Part::K => &mut then.k,
            Part::V => &mut then.v,
        };
        if there[head as usize] {
            return;
        }
        there[head as usize] = true;
        let per_row = self.sizes.input_dim as u64 * self.sizes.head_dim as u64;
        push(out, self.sizes.seq_len as u32, per_row, self.budget, |r| {
            Job::Project(part, head, r)
        });
    }

    /// Multiply-adds of one row of scores, exponentials counted in.
    fn score_row(&self) -> u64 {
        let config = &self.frame.config;
        let width = config
            .score_rank
            .map_or(self.sizes.head_dim, |r| r as usize);
        let keys = keys_per_row(self.sizes.seq_len, &config.visibility);
        (keys * (width + EXP_COST)) as u64
    }

    /// Multiply-adds per key of one texel row that covers `cells / texels` rows.
    fn texel_cost(&self, cells: u32, texels: u32) -> u64 {
        let config = &self.frame.config;
        let width = config
            .score_rank
            .map_or(self.sizes.head_dim, |r| r as usize);
        let rows = u64::from(cells.div_ceil(texels.max(1)));
        let recomputed = if self.stats.stride > self.stats.segments {
            1
        } else {
            1 + self.stats.segment as u64 / 2
        };
        rows * (width + EXP_COST) as u64 * recomputed
    }

    fn model_dim(&self) -> u64 {
        (self.sizes.heads * self.sizes.head_dim) as u64
    }
}

/// An exponential and its surroundings, in multiply-adds.
const EXP_COST: usize = 16;

fn step(job: Job, cost: u64) -> Step {
    Step { job, cost }
}

fn push(out: &mut VecDeque<Step>, rows: u32, per_row: u64, budget: u64, job: impl Fn(Rows) -> Job) {
    for (first, end) in blocks(rows as usize, per_row, budget, 4) {
        out.push_back(step(job((first, end)), per_row * u64::from(end - first)));
    }
}

/// Whether P_K (K) or P_V (V) adds anything.
pub fn has_bias(frame: &Frame, part: Part) -> bool {
    let bias = match part {
        Part::V => &frame.biases.p_v,
        Part::Q | Part::K => &frame.biases.p_k,
    };
    bias.as_ref().is_some_and(|b| b.amplitude != 0.0)
}

/// How many components T has.
pub fn components(frame: &Frame) -> u32 {
    factors(frame).map_or(0, |(w_1, _)| w_1.shape.first().copied().unwrap_or(0) as u32)
}

/// W_1 and W_2: the file's own or those of the SVD.
pub fn factors(frame: &Frame) -> Option<(&Tensor, &Tensor)> {
    match (&frame.layer.output, &frame.out_factors) {
        (Output::Factors { w_1, w_2, .. }, _) => Some((w_1, w_2)),
        (Output::Full(_), Some(factors)) => Some((&factors.w_1, &factors.w_2)),
        _ => None,
    }
}

/// The output rank that is asked for, if any.
pub fn low_rank(frame: &Frame) -> Option<u32> {
    frame.config.out_rank
}

/// Whether the texels of `map` are cells.
pub fn is_crisp(map: &MapView) -> bool {
    map.texel_rows == map.rect.rows && map.texel_cols == map.rect.cols
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
