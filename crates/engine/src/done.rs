//! What is there of the last Frame, result by result.

use crate::plan::{Pass, Plan};

use super::jobs::{Job, Part, Rows};

/// What is there already.
#[allow(clippy::struct_excessive_bools)] // One flag a result: they are independent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// q by head.
    pub q: Vec<bool>,
    /// k by head.
    pub k: Vec<bool>,
    /// v by head.
    pub v: Vec<bool>,
    /// k' by head.
    pub k_biased: Vec<bool>,
    /// v' by head.
    pub v_biased: Vec<bool>,
    /// Head whose statistics are in each slot.
    pub stats: Vec<Option<u32>>,
    /// Texels of the large map.
    pub map: bool,
    /// Texels of the small maps.
    pub strip: Vec<bool>,
    /// O by head.
    pub attended: Vec<bool>,
    /// Y.
    pub full: bool,
    /// T.
    pub components: bool,
    /// How many partial sums of the low-rank Y.
    pub partials: u32,
    /// Low-rank Y.
    pub low_rank: bool,
    /// ‖T_c‖² and ‖Y‖².
    pub energy: bool,
    /// Texels of Y.
    pub full_texels: bool,
    /// Texels of its low-rank twin.
    pub low_texels: bool,
    /// The large map is on its target.
    pub map_drawn: bool,
    /// The strip is on its target.
    pub strip_drawn: bool,
    /// The outputs are on their target.
    pub output_drawn: bool,
}

impl Done {
    /// Nothing is there, for `heads` heads and `slots` slots of statistics.
    pub fn nothing(heads: usize, slots: usize) -> Self {
        let none = vec![false; heads];
        Self {
            q: none.clone(),
            k: none.clone(),
            v: none.clone(),
            k_biased: none.clone(),
            v_biased: none.clone(),
            strip: none.clone(),
            attended: none,
            stats: vec![None; slots],
            ..Self::default()
        }
    }

    /// Forgets what `plan` names.
    pub fn forget(&mut self, plan: Plan) {
        for pass in plan.iter() {
            match pass {
                Pass::Layer => {
                    for part in [&mut self.q, &mut self.k, &mut self.v] {
                        part.fill(false);
                    }
                }
                Pass::KeyBias => self.k_biased.fill(false),
                Pass::ValueBias => self.v_biased.fill(false),
                Pass::Factors | Pass::ScoreBias => {}
                Pass::Stats => self.stats.fill(None),
                Pass::Map => self.map = false,
                Pass::Strip => self.strip.fill(false),
                Pass::Output => {
                    self.attended.fill(false);
                    self.full = false;
                    self.energy = false;
                }
                Pass::Components => {
                    self.components = false;
                    self.partials = 0;
                    self.energy = false;
                }
                Pass::LowRank => self.low_rank = false,
                Pass::FullTexels => self.full_texels = false,
                Pass::LowTexels => self.low_texels = false,
                Pass::DrawMap => self.map_drawn = false,
                Pass::DrawStrip => self.strip_drawn = false,
                Pass::DrawOutput => self.output_drawn = false,
            }
        }
    }

    /// Notes that `job` was submitted; a job in blocks is done with its last block.
    pub fn note(&mut self, job: Job, all_rows: u32, map_rows: u32, strip_rows: u32) {
        let whole = |rows: Rows| rows.1 >= all_rows;
        match job {
            Job::Project(part, head, rows) if whole(rows) => match part {
                Part::Q => self.q[head as usize] = true,
                Part::K => self.k[head as usize] = true,
                Part::V => self.v[head as usize] = true,
            },
            Job::Bias(Part::V, head) => self.v_biased[head as usize] = true,
            Job::Bias(_, head) => self.k_biased[head as usize] = true,
            Job::Stats(head, rows) | Job::Scores(head, rows) => {
                let slot = head as usize % self.stats.len().max(1);
                self.stats[slot] = whole(rows).then_some(head);
            }
            Job::Map(rows) | Job::Weights(rows) => self.map = rows.1 >= map_rows,
            Job::Strip(head, rows) => self.strip[head as usize] = rows.1 >= strip_rows,
            Job::Attend(head, rows) => self.attended[head as usize] = whole(rows),
            Job::Full(rows) => self.full = whole(rows),
            Job::Components(rows) => self.components = whole(rows),
            Job::Partial(part, rows) if whole(rows) => self.partials = part + 1,
            Job::LowRank(rows) => self.low_rank = whole(rows),
            Job::Energy => self.energy = true,
            Job::FullTexels => self.full_texels = true,
            Job::LowTexels => self.low_texels = true,
            Job::DrawMap => self.map_drawn = true,
            Job::DrawStrip => self.strip_drawn = true,
            Job::DrawOutput => self.output_drawn = true,
            Job::Project(..) | Job::Partial(..) => {}
        }
    }
}
