//! What rows cost, and how many of them make a step.

use std::collections::VecDeque;

use super::{Job, Planner, Rows, Step, step};
use crate::sizes::{blocks, keys_per_row};
use attnscope_attention::config::Empty;

/// An exponential and its surroundings, in multiply-adds.
pub(super) const EXP_COST: u64 = 16;

/// Multiply-adds a row: of the first ones, which see every key, and of the others.
#[derive(Clone, Copy)]
pub(super) struct Rates {
    globals: u32,
    global: u64,
    other: u64,
}

impl Rates {
    /// All rows alike.
    pub(super) fn even(per_row: u64) -> Self {
        Self {
            globals: 0,
            global: per_row,
            other: per_row,
        }
    }

    /// So many times as much.
    pub(super) fn times(self, by: u64) -> Self {
        Self {
            global: self.global * by,
            other: self.other * by,
            ..self
        }
    }
}

impl Planner<'_> {
    /// Multiply-adds of the rows of scores, exponentials counted in.
    pub(super) fn score_rows(&self) -> Rates {
        let len = self.sizes.seq_len;
        let visibility = &self.frame.config.visibility;
        Rates {
            globals: visibility.globals,
            global: len as u64 * self.score_cost(),
            other: keys_per_row(len, visibility) as u64 * self.score_cost(),
        }
    }

    /// Multiply-adds of a score and its exponential.
    fn score_cost(&self) -> u64 {
        let width = self.frame.config.score_rank;
        let width = width.map_or(self.sizes.head_dim, |r| r as usize);
        width as u64 + EXP_COST
    }

    /// Multiply-adds of texel rows over a part of `cells` rows and columns, from row `first` on, that is
    /// shown in `texels`. Every texel looks at each of its rows; scores are made where a key can be
    /// seen.
    pub(super) fn texel_rows(&self, first: u32, cells: (u32, u32), texels: (u32, u32)) -> Rates {
        let config = &self.frame.config;
        let len = self.sizes.seq_len;
        let recomputed = if self.stats.stride > self.stats.segments {
            1
        } else {
            1 + self.stats.segment as u64 / 2
        };
        let rows = cells.0.div_ceil(texels.0.max(1));
        let row = |keys: usize| {
            let scores = u64::from(cells.1).min(keys as u64) * self.score_cost() * recomputed;
            u64::from(rows) * (scores + u64::from(texels.1) * EXP_COST)
        };
        let other = match config.empty {
            Empty::Zero => keys_per_row(len, &config.visibility),
            Empty::Mean => len,
        };
        let globals = config.visibility.globals.saturating_sub(first);
        Rates {
            globals: globals.div_ceil(rows.max(1)),
            global: row(len),
            other: row(other),
        }
    }

    /// `job` over `rows` in steps of the budget.
    pub(super) fn push(
        &self,
        out: &mut VecDeque<Step>,
        rows: u32,
        rates: Rates,
        job: &dyn Fn(Rows) -> Job,
    ) {
        let border = rates.globals.min(rows).next_multiple_of(4).min(rows);
        for (from, to, per_row) in [(0, border, rates.global), (border, rows, rates.other)] {
            for (first, end) in blocks((to - from) as usize, per_row, self.budget, 4) {
                let cost = per_row * u64::from(end - first);
                out.push_back(step(job((from + first, from + end)), cost));
            }
        }
    }
}
