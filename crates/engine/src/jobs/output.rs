//! What is left to do for the layer output and its low-rank twin.

use std::collections::VecDeque;

use super::cost::Rates;
use super::{Job, Part, Planner, Step, has_bias, step};
use crate::Frame;
use crate::done::Done;
use crate::sizes::partial_sums;
use attnscope_attention::layer::{Output, Tensor};

impl Planner<'_> {
    pub(super) fn output(&self, then: &mut Done, out: &mut VecDeque<Step>) {
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
            let rates = self.score_rows().times(chunks + 1);
            self.push(out, rows, rates, &|r| Job::Attend(head, r));
            then.attended[head as usize] = true;
        }
        let factors = factors(self.frame).is_some();
        if !then.full && !matches!(self.frame.layer.output, Output::Factors { .. }) {
            self.push(out, rows, Rates::even(d * d), &Job::Full);
            then.full = true;
        }
        if factors && !then.components {
            self.push(out, rows, Rates::even(d * d), &Job::Components);
            then.components = true;
            then.partials = 0;
            then.low_rank = false;
        }
        if !then.full {
            self.push(out, rows, Rates::even(d * d), &Job::Full);
            then.full = true;
        }
        if factors && low_rank(self.frame).is_some() && !then.low_rank {
            let all = components(self.frame);
            let rank = low_rank(self.frame).unwrap_or(all).min(all);
            let sums = partial_sums(self.sizes, all);
            let before = sums.before(rank);
            for part in then.partials..before {
                self.push(out, rows, Rates::even(d * u64::from(sums.step)), &|r| {
                    Job::Partial(part, r)
                });
            }
            then.partials = then.partials.max(before);
            let rest = u64::from(rank - before * sums.step);
            self.push(out, rows, Rates::even(d * rest), &Job::LowRank);
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

    fn model_dim(&self) -> u64 {
        (self.sizes.heads * self.sizes.head_dim) as u64
    }
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
