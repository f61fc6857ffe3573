//! The remaining work for a Frame, as steps small enough for one submit each. Pure: it follows from
//! the table of passes and from the valid results.

use std::collections::{HashMap, VecDeque};

use attnscope_attention::config::FullyMasked;

use super::cache_state::CacheState;
use super::passes::{Cost, Pass, Rows, Unit};
use super::sizes::{PaddedSizes, StatSizes, blocks, keys_per_row, partial_sums};
use super::{Frame, MapView};

/// Cost of an exponential and the work around it, in multiply-adds.
const EXP_COST: u64 = 16;

/// Half-open range of rows (query rows of a head, or texel rows).
pub type RowRange = (u32, u32);

/// Some rows of one unit of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// What is computed.
    pub pass: Pass,
    /// Head or partial sum; 0 for a pass with a single unit.
    pub unit: u32,
    /// Its rows; `(0, 1)` for a pass without rows.
    pub rows: RowRange,
    /// [`Pass::Stats`] writes the scores into the texels of the map, and [`Pass::Map`] turns them
    /// into weights: each score is computed once.
    pub scores_cached: bool,
}

impl Job {
    /// All of a pass without rows.
    pub fn whole(pass: Pass) -> Self {
        Self::rows(pass, 0, (0, 1))
    }

    /// Some rows of `unit`.
    pub fn rows(pass: Pass, unit: u32, rows: RowRange) -> Self {
        Self {
            pass,
            unit,
            rows,
            scores_cached: false,
        }
    }
}

/// A job and its estimated multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub job: Job,
    /// Estimated multiply-adds.
    pub cost: u64,
}

/// Steps in order: first those that the large map waits for, then the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Up to and including the large map on its target.
    pub front: VecDeque<Step>,
    /// What can wait: strip, output.
    pub back: VecDeque<Step>,
}

/// How many rows `pass` has.
pub fn row_count(pass: Pass, frame: &Frame) -> u32 {
    match pass.row().rows {
        Rows::One => 1,
        Rows::Queries => frame.layer.seq_len as u32,
        Rows::MapTexels => frame.map.as_ref().map_or(0, |map| map.texel_rows),
        Rows::StripTexels => frame.strip.as_ref().map_or(0, |strip| strip.texels),
    }
}

/// Makes [`Steps`].
pub struct StepPlanner<'a> {
    /// The Frame to draw.
    pub frame: &'a Frame,
    /// Sizes of its layer.
    pub sizes: &'a PaddedSizes,
    /// Sizes of its statistics.
    pub stats: &'a StatSizes,
    /// Multiply-adds of one step.
    pub budget: u64,
    /// Whether the engine computes a pass separately. A pass that it computes inside the passes
    /// that read it has no steps.
    pub computes: fn(Pass) -> bool,
    /// Whether the engine can store scores in the texels of a whole map.
    pub caches_scores: bool,
}

impl StepPlanner<'_> {
    /// The remaining work when the results of `cache` are valid.
    pub fn steps(&self, cache: &CacheState) -> Steps {
        let mut planning = Planning {
            planner: self,
            cache,
            planned: HashMap::new(),
            steps: VecDeque::new(),
        };
        let frame = self.frame;
        if frame.map.is_some() {
            planning.require(Pass::DrawMap, 0);
        }
        let rank_moves = cache.is_complete(Pass::HeadOutput)
            && cache.is_valid(Pass::LayerOutput, 0)
            && !cache.is_valid(Pass::LowTexels, 0);
        if frame.output.is_some() && rank_moves {
            // A drag of the output rank: the outputs are the picture that moves.
            planning.require(Pass::DrawOutput, 0);
        }
        let front = std::mem::take(&mut planning.steps);
        if frame.strip.is_some() {
            planning.require(Pass::DrawStrip, 0);
        }
        if frame.output.is_some() {
            planning.require(Pass::DrawOutput, 0);
        }
        let back = planning.steps;
        Steps { front, back }
    }

    /// Whether the statistics of the head of `map` compute every score that it shows, and every
    /// texel has room for one.
    fn can_cache_scores(&self, map: &MapView) -> bool {
        let len = self.sizes.seq_len as u32;
        let stored = self.stats.stride > self.stats.segments;
        self.caches_scores
            && map.has_texel_per_cell()
            && (map.rect.rows, map.rect.cols) == (len, len)
            && stored
            && !self.frame.config.reading.is_signed()
    }

    /// Cost of the rows of `pass`.
    fn rates(&self, pass: Pass) -> Rates {
        let frame = self.frame;
        let len = self.sizes.seq_len as u64;
        let d = (self.sizes.heads * self.sizes.head_dim) as u64;
        let sums = || partial_sums(self.sizes, frame.components());
        match pass.row().cost {
            Cost::Free => Rates::even(0),
            Cost::Projection => {
                Rates::even(self.sizes.input_dim as u64 * self.sizes.head_dim as u64)
            }
            Cost::Row => Rates::even(len),
            Cost::Scores => self.score_rows(),
            Cost::WeightedValues => {
                let chunks = self.sizes.head_stride.div_ceil(8) as u64;
                self.score_rows().times(chunks + 1)
            }
            Cost::MapTexels => frame.map.as_ref().map_or(Rates::even(0), |map| {
                let cells = (map.rect.rows, map.rect.cols);
                self.texel_rows(map.rect.row, cells, (map.texel_rows, map.texel_cols))
            }),
            Cost::StripTexels => frame.strip.as_ref().map_or(Rates::even(0), |strip| {
                let cells = (len as u32, len as u32);
                self.texel_rows(0, cells, (strip.texels, strip.texels))
            }),
            Cost::Linear => Rates::even(d * d),
            Cost::PartialSum => Rates::even(d * u64::from(sums().step)),
            Cost::RestOfRank => {
                let rank = frame.output_rank();
                let rest = rank - sums().before(rank) * sums().step;
                Rates::even(d * u64::from(rest))
            }
            Cost::Matrix => Rates::even(len * d),
        }
    }

    /// Multiply-adds of the rows of scores, including exponentials.
    fn score_rows(&self) -> Rates {
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

    /// Multiply-adds of texel rows over a part of `cells` rows and columns, from row `first` on,
    /// that is shown in `texels`. Every texel reads each of its rows; scores are computed only
    /// where a key can be visible.
    fn texel_rows(&self, first: u32, cells: (u32, u32), texels: (u32, u32)) -> Rates {
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
            FullyMasked::Zero => keys_per_row(len, &config.visibility),
            FullyMasked::Mean => len,
        };
        let globals = config.visibility.globals.saturating_sub(first);
        Rates {
            globals: globals.div_ceil(rows.max(1)),
            global: row(len),
            other: row(other),
        }
    }
}

/// Multiply-adds per row: of the first rows, which see every key, and of the others.
#[derive(Clone, Copy)]
struct Rates {
    globals: u32,
    global: u64,
    other: u64,
}

impl Rates {
    /// All rows cost the same.
    fn even(per_row: u64) -> Self {
        Self {
            globals: 0,
            global: per_row,
            other: per_row,
        }
    }

    /// Multiplied by a factor.
    fn times(self, by: u64) -> Self {
        Self {
            global: self.global * by,
            other: self.other * by,
            ..self
        }
    }
}

/// Steps under construction.
struct Planning<'a> {
    planner: &'a StepPlanner<'a>,
    cache: &'a CacheState,
    /// The unit that each place of the cache will have after the steps so far.
    planned: HashMap<(Pass, usize), u32>,
    steps: VecDeque<Step>,
}

impl Planning<'_> {
    fn is_there(&self, pass: Pass, unit: u32) -> bool {
        let place = self.cache.place(pass, unit);
        match self.planned.get(&(pass, place)) {
            Some(&planned) => planned == unit,
            None => self.cache.is_valid(pass, unit),
        }
    }

    /// Plans `unit` of `pass` and everything that it reads, unless they are valid.
    fn require(&mut self, pass: Pass, unit: u32) {
        let frame = self.planner.frame;
        if !(pass.row().runs)(frame) {
            return;
        }
        if pass == Pass::DrawStrip {
            return self.require_strip();
        }
        if self.is_there(pass, unit) {
            return;
        }
        if let (Pass::Map, Some(map)) = (pass, &frame.map)
            && self.planner.can_cache_scores(map)
        {
            // Also when the statistics are valid: compiling other shaders for that case would cost
            // more than computing the scores.
            self.require_inputs(Pass::Stats, map.head);
            self.plan(Pass::Stats, map.head, true);
            return self.plan(Pass::Map, 0, true);
        }
        self.require_inputs(pass, unit);
        if (self.planner.computes)(pass) {
            self.plan(pass, unit, false);
        }
    }

    /// The small maps appear one after the other.
    fn require_strip(&mut self) {
        let mut drawn = self.is_there(Pass::DrawStrip, 0);
        for head in 0..self.planner.sizes.heads as u32 {
            if !self.is_there(Pass::Strip, head) {
                self.require(Pass::Strip, head);
                self.plan(Pass::DrawStrip, 0, false);
                drawn = true;
            }
        }
        if !drawn {
            self.plan(Pass::DrawStrip, 0, false);
        }
    }

    fn require_inputs(&mut self, pass: Pass, unit: u32) {
        let StepPlanner { frame, sizes, .. } = *self.planner;
        for &(read, when) in pass.row().reads {
            if !when(frame) {
                continue;
            }
            let units = match (read.row().unit, pass.row().unit) {
                (Unit::Whole, _) => 0..1,
                (Unit::PartialSum, _) => {
                    let sums = partial_sums(sizes, frame.components());
                    0..sums.before(frame.output_rank())
                }
                (_, Unit::Head | Unit::StatSlot) => unit..unit + 1,
                _ => match (&frame.map, pass) {
                    (Some(map), Pass::Map) => map.head..map.head + 1,
                    _ => 0..sizes.heads as u32,
                },
            };
            for unit in units {
                self.require(read, unit);
            }
        }
    }

    fn plan(&mut self, pass: Pass, unit: u32, scores_cached: bool) {
        let planner = self.planner;
        let rows = row_count(pass, planner.frame);
        let rates = if (pass, scores_cached) == (Pass::Map, true) {
            Rates::even(u64::from(rows) * EXP_COST)
        } else {
            planner.rates(pass)
        };
        let border = rates.globals.min(rows).next_multiple_of(4).min(rows);
        for (from, to, per_row) in [(0, border, rates.global), (border, rows, rates.other)] {
            for (first, end) in blocks((to - from) as usize, per_row, planner.budget, 4) {
                self.steps.push_back(Step {
                    job: Job {
                        pass,
                        unit,
                        rows: (from + first, from + end),
                        scores_cached,
                    },
                    cost: per_row * u64::from(end - first),
                });
            }
        }
        let place = self.cache.place(pass, unit);
        self.planned.insert((pass, place), unit);
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
