//! Which cached results are still valid.

use super::Frame;
use super::passes::{Pass, Plan, Unit};
use super::sizes::{PaddedSizes, StatSizes, partial_sums};
use super::steps::Job;

/// How many results of each kind a Frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    heads: usize,
    stat_slots: usize,
    partial_sums: usize,
}

impl Units {
    /// The units of `frame`.
    pub fn of(frame: &Frame, sizes: &PaddedSizes, stats: &StatSizes) -> Self {
        Self {
            heads: sizes.heads,
            stat_slots: stats.slots,
            partial_sums: partial_sums(sizes, frame.components()).count as usize,
        }
    }

    fn count(self, pass: Pass) -> usize {
        match pass.row().unit {
            Unit::Whole => 1,
            Unit::Head => self.heads,
            Unit::StatSlot => self.stat_slots,
            Unit::PartialSum => self.partial_sums,
        }
    }
}

/// The valid results of each pass. A pass with `n` places keeps unit `u` in place `u mod n`.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheState {
    units: [Vec<Option<u32>>; Pass::COUNT],
}

impl CacheState {
    /// Nothing is valid.
    pub fn new(units: Units) -> Self {
        let mut state = Self {
            units: std::array::from_fn(|_| Vec::new()),
        };
        Pass::all().for_each(|pass| state.reset(pass, units));
        state
    }

    /// Invalidates the stale passes of `plan`.
    pub fn invalidate(&mut self, plan: Plan, units: Units) {
        plan.iter().for_each(|pass| self.reset(pass, units));
    }

    fn reset(&mut self, pass: Pass, units: Units) {
        self.units[pass as usize] = vec![None; units.count(pass)];
    }

    /// Invalidates every unit of `pass`.
    pub fn invalidate_pass(&mut self, pass: Pass) {
        self.units[pass as usize].fill(None);
    }

    /// The place of `unit`.
    pub(super) fn place(&self, pass: Pass, unit: u32) -> usize {
        unit as usize % self.units[pass as usize].len().max(1)
    }

    /// Whether `unit` of `pass` is valid.
    pub fn is_valid(&self, pass: Pass, unit: u32) -> bool {
        let place = self.units[pass as usize].get(self.place(pass, unit));
        place.is_some_and(|&there| there == Some(unit))
    }

    /// Whether every unit of `pass` is valid.
    pub fn is_complete(&self, pass: Pass) -> bool {
        self.units[pass as usize].iter().all(Option::is_some)
    }

    /// Records that `job` was submitted: its unit is valid once its last row, of `row_count`, is.
    pub fn record(&mut self, job: Job, row_count: u32) {
        let place = self.place(job.pass, job.unit);
        if let Some(there) = self.units[job.pass as usize].get_mut(place) {
            *there = (job.rows.1 >= row_count).then_some(job.unit);
        }
    }
}
