//! Each job of one head as a launch: parameters, bindings, threads.

use attnscope_attention::layer::ScoreBias;
use attnscope_engine::jobs::{Job, Part, Rows, has_bias};
use attnscope_engine::sizes::{Sizes, StatSizes, aligned, row_bytes};
use attnscope_scene::Quantity;

use super::engine::{GpuEngine, Shown};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::params::{head_params, variant};
use super::store::Span;
use super::upload::{Uploader, packed_mask};
use super::variant::Variant;
use attnscope_engine::needs::Name;

impl GpuEngine {
    /// Encodes `job` into `slice`; uploads that it needs are queued before. Returns whether it is
    /// done: a drawing whose surface gives no texture now is not.
    pub(super) fn encode(&mut self, slice: &mut Slice, job: Job, timed: Timed) -> bool {
        let Some(shown) = self.shown.take() else {
            return true;
        };
        let mut done = true;
        match job {
            Job::Project(part, head, rows) => self.project(&shown, slice, part, head, rows, timed),
            Job::Bias(part, head) => self.bias(&shown, slice, part, head, timed),
            Job::Stats(head, rows) => self.stats(&shown, slice, (head, rows, false), timed),
            Job::Scores(head, rows) => self.stats(&shown, slice, (head, rows, true), timed),
            Job::Map(rows) => self.map(&shown, slice, (rows, false), timed),
            Job::Weights(rows) => self.map(&shown, slice, (rows, true), timed),
            Job::Strip(head, rows) => self.small_map(&shown, slice, head, rows, timed),
            Job::DrawMap => done = self.draw_map(&shown, slice, timed),
            Job::DrawStrip => done = self.draw_strip(&shown, slice, timed),
            Job::DrawOutput => done = self.draw_output(&shown, slice, timed),
            Job::Attend(..)
            | Job::Full(_)
            | Job::Components(_)
            | Job::Partial(..)
            | Job::LowRank(_)
            | Job::Energy
            | Job::FullTexels
            | Job::LowTexels => self.encode_output(&shown, slice, job, timed),
        }
        self.shown = Some(shown);
        done
    }

    pub(super) fn uploader(&mut self) -> Uploader<'_> {
        Uploader {
            device: &self.context.device,
            queue: &self.context.queue,
            store: &mut self.store,
        }
    }

    /// The buffer, or the dummy when it is not there.
    pub(super) fn whole(&self, name: Name) -> Arg<'_> {
        Arg::Span(self.span(name, 0, 0))
    }

    pub(super) fn span(&self, name: Name, offset: u64, size: u64) -> Span<'_> {
        self.store.span(name, offset, size).unwrap_or(Span {
            buffer: &self.dummy,
            offset: 0,
            size: 0,
        })
    }

    pub(super) fn of_head(&self, name: Name, head: u32, bytes: u64) -> Arg<'_> {
        Arg::Span(self.span(name, u64::from(head) * bytes, bytes))
    }

    /// Launches a kernel that has no variants.
    pub(super) fn launch(
        &self,
        slice: &mut Slice,
        (kernel, threads, timed): (Kernel, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        self.launch_variant(slice, (kernel, Variant::default(), threads, timed), groups);
    }

    pub(super) fn launch_variant(
        &self,
        slice: &mut Slice,
        what: (Kernel, Variant, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        self.launcher
            .dispatch(&self.context, &self.kernels, slice, what, groups);
    }

    /// Makes the pipeline unless it is there.
    pub(super) fn need(&mut self, kernel: Kernel, variant: Variant) {
        let workgroup = self.context.workgroup();
        self.kernels
            .prepare(&self.context.device, workgroup, kernel, variant);
    }

    /// Uploads s, mask and score factors where they are used and not there.
    pub(super) fn supply(&mut self, shown: &Shown) {
        let frame = &shown.frame;
        if let (true, Some(s)) = (frame.config.reading.uses_score_bias(), &frame.biases.s)
            && !self.store.is_uploaded(Name::S)
        {
            match s {
                ScoreBias::Curve { table, .. } => self.uploader().numbers(Name::S, table),
                ScoreBias::Dense(s) => {
                    let bytes = dense_bytes(&shown.sizes);
                    self.uploader().dense(Name::S, s, bytes);
                }
            }
        }
        if let Some(mask) = &frame.layer.mask
            && !self.store.is_uploaded(Name::Mask)
        {
            let packed = packed_mask(mask, shown.sizes.seq_len);
            self.uploader().numbers(Name::Mask, &packed);
        }
        if let (Some(_), Some(factors)) = (frame.config.score_rank, &frame.score_factors)
            && !self.store.is_uploaded(Name::QFactor)
        {
            let width = factors.q.shape.get(2).copied().unwrap_or(1);
            let bytes = row_bytes(shown.sizes.seq_len + 1, width);
            self.uploader().heads(Name::QFactor, &factors.q, bytes);
            self.uploader().heads(Name::KFactor, &factors.k, bytes);
        }
    }

    /// Group 0 of `stats`, `map`, `pool` and `output`.
    pub(super) fn head_args(
        &self,
        shown: &Shown,
        slice: &mut Slice,
        head: u32,
        rows: Rows,
    ) -> [Arg<'_>; 5] {
        let params = slice.params(&head_params(shown, rows));
        let sizes = &shown.sizes;
        let factors = shown.frame.score_factors.as_ref();
        let ranked = factors.filter(|_| shown.frame.config.score_rank.is_some());
        let [q, k] = if let Some(factors) = ranked {
            let width = factors.q.shape.get(2).copied().unwrap_or(1);
            let bytes = row_bytes(sizes.seq_len + 1, width);
            [Name::QFactor, Name::KFactor].map(|name| self.of_head(name, head, bytes))
        } else {
            let keys = if has_bias(&shown.frame, Part::K) {
                Name::KBiased
            } else {
                Name::K
            };
            [Name::Q, keys].map(|name| self.of_head(name, head, sizes.head_bytes))
        };
        let s = match &shown.frame.biases.s {
            Some(ScoreBias::Dense(_)) if shown.frame.config.reading.uses_score_bias() => {
                self.of_head(Name::S, head, dense_bytes(sizes))
            }
            _ => self.whole(Name::S),
        };
        [params, q, k, s, self.whole(Name::Mask)]
    }

    /// The statistics of one head.
    pub(super) fn stats_arg(&self, stats: &StatSizes, head: u32) -> Arg<'_> {
        let slot = head % stats.slots as u32;
        self.of_head(Name::Stats, slot, stats.head_bytes)
    }

    /// Row statistics of one head; where `kept`, with its scores in the texels of the large map.
    fn stats(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        (head, rows, kept): (u32, Rows, bool),
        timed: Timed,
    ) {
        self.supply(shown);
        let variant = Variant {
            kept,
            ..variant(shown, Quantity::Weights)
        };
        if kept && let Some(map) = &shown.frame.map {
            self.map_texels(map);
        }
        self.need(Kernel::Stats, variant);
        let bytes = shown.stats.head_bytes * shown.stats.slots as u64;
        self.store.ensure(&self.context.device, Name::Stats, bytes);
        let group = self.head_args(shown, slice, head, rows);
        let threads = u64::from((rows.1 - rows.0).div_ceil(4));
        let texels = if kept {
            self.whole(Name::MapTexels)
        } else {
            Arg::Span(Span {
                buffer: &self.unwritten,
                offset: 0,
                size: 0,
            })
        };
        let stats = [self.stats_arg(&shown.stats, head), texels];
        self.launch_variant(
            slice,
            (Kernel::Stats, variant, threads, timed),
            &[&group, &stats],
        );
    }
}

/// Bytes from one head to the next of a dense s.
fn dense_bytes(sizes: &Sizes) -> u64 {
    aligned((sizes.seq_len as u64).pow(2) * 4)
}
