//! What is left to do for a Frame, as steps small enough for one submit each. Pure: made from what
//! is already there and what is to be seen.

mod cost;
mod output;

use std::collections::VecDeque;

use crate::sizes::{Sizes, StatSizes};
use crate::{Frame, MapView};

use self::cost::{EXP_COST, Rates};
use super::done::Done;

pub use self::output::{components, factors, low_rank};

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
    /// Row statistics of the large map's head, which leave the scores in its texels.
    Scores(u32, Rows),
    /// Texel rows of the large map from the scores that were left there.
    Weights(Rows),
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
    /// Whether scores can be left in the texels of a whole map.
    pub keeps_scores: bool,
}

impl Planner<'_> {
    /// What is left to do when `done` is there.
    pub fn work(&self, done: &Done) -> Work {
        // What will be there when all steps so far are through.
        let mut then = done.clone();
        let mut work = Work::default();
        if let Some(map) = &self.frame.map {
            if !then.map {
                self.map(&mut then, map, &mut work.front);
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

    fn map(&self, then: &mut Done, map: &MapView, out: &mut VecDeque<Step>) {
        let head = map.head;
        if self.keeps_scores && self.leaves_scores(map) {
            // Each score is computed once and not twice, also where the statistics were there:
            // another pipeline for those would cost more than it saves.
            self.score_inputs(then, head, out);
            let rows = self.sizes.seq_len as u32;
            self.push(out, rows, self.score_rows(), &|r| Job::Scores(head, r));
            then.stats[head as usize % self.stats.slots] = Some(head);
            let per_row = u64::from(rows) * EXP_COST;
            self.push(out, rows, Rates::even(per_row), &Job::Weights);
        } else {
            self.prepare(then, head, out);
            let cells = (map.rect.rows, map.rect.cols);
            let rates = self.texel_rows(map.rect.row, cells, (map.texel_rows, map.texel_cols));
            self.push(out, map.texel_rows, rates, &Job::Map);
        }
    }

    /// Whether the statistics of the head of `map` meet every score that it shows, and every texel
    /// has room for one.
    fn leaves_scores(&self, map: &MapView) -> bool {
        let len = self.sizes.seq_len as u32;
        let stored = self.stats.stride > self.stats.segments;
        is_crisp(map)
            && (map.rect.rows, map.rect.cols) == (len, len)
            && stored
            && !self.frame.config.reading.is_signed()
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
            let rates = self.texel_rows(0, (len, len), (strip.texels, strip.texels));
            self.push(out, strip.texels, rates, &|rows| Job::Strip(head, rows));
            out.push_back(step(Job::DrawStrip, 0));
            then.strip_drawn = true;
        }
        if !then.strip_drawn {
            out.push_back(step(Job::DrawStrip, 0));
        }
    }

    /// q, k, k' of `head`.
    fn score_inputs(&self, then: &mut Done, head: u32, out: &mut VecDeque<Step>) {
        let at = head as usize;
        if self.frame.config.score_rank.is_none() {
            self.project(then, Part::Q, head, out);
            self.project(then, Part::K, head, out);
            if has_bias(self.frame, Part::K) && !then.k_biased[at] {
                out.push_back(step(Job::Bias(Part::K, head), self.sizes.seq_len as u64));
                then.k_biased[at] = true;
            }
        }
    }

    /// q, k, k' and statistics of `head`.
    fn prepare(&self, then: &mut Done, head: u32, out: &mut VecDeque<Step>) {
        self.score_inputs(then, head, out);
        let slot = head as usize % self.stats.slots;
        if then.stats[slot] != Some(head) {
            let rows = self.sizes.seq_len as u32;
            self.push(out, rows, self.score_rows(), &|r| Job::Stats(head, r));
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
        let rows = self.sizes.seq_len as u32;
        self.push(out, rows, Rates::even(per_row), &|r| {
            Job::Project(part, head, r)
        });
    }
}

fn step(job: Job, cost: u64) -> Step {
    Step { job, cost }
}

/// Whether P_K (K) or P_V (V) adds anything.
pub fn has_bias(frame: &Frame, part: Part) -> bool {
    let bias = match part {
        Part::V => &frame.biases.p_v,
        Part::Q | Part::K => &frame.biases.p_k,
    };
    bias.as_ref().is_some_and(|b| b.amplitude != 0.0)
}

/// Whether the texels of `map` are cells.
pub fn is_crisp(map: &MapView) -> bool {
    map.texel_rows == map.rect.rows && map.texel_cols == map.rect.cols
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
