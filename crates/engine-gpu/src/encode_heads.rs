//! The passes of one head as launches: q, k, v and their biases, row statistics, texels of the maps.

use attnscope_attention::layer::{Input, ScoreBias};
use attnscope_engine::centring::{centred_rows, common_output, common_row};
use attnscope_engine::needs::Name;
use attnscope_engine::passes::Pass;
use attnscope_engine::sizes::{ALIGN, PaddedSizes, StatSizes, aligned, row_bytes, vec4s};
use attnscope_engine::steps::{Job, RowRange};
use attnscope_engine::{MapView, Part};
use attnscope_scene::Quantity;

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{BiasParams, LinearParams, MapParams, NOTHING};
use super::launch::{Arg, Submission, Timed};
use super::params::{head_params, variant};
use super::passes::{Kernel, Variant};
use super::store::Span;
use super::upload::{Source, Uploader, packed_mask, source};

impl GpuEngine {
    pub(super) fn uploader(&mut self) -> Uploader<'_> {
        Uploader {
            device: &self.context.device,
            queue: &self.context.queue,
            store: &mut self.store,
        }
    }

    /// The buffer, or the dummy when it does not exist.
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
        submission: &mut Submission,
        (kernel, threads, timed): (Kernel, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        self.launch_variant(
            submission,
            (kernel, Variant::default(), threads, timed),
            groups,
        );
    }

    pub(super) fn launch_variant(
        &self,
        submission: &mut Submission,
        what: (Kernel, Variant, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        self.launcher
            .dispatch(&self.context, &self.kernels, submission, what, groups);
    }

    /// Creates the pipeline unless it exists.
    pub(super) fn need(&mut self, kernel: Kernel, variant: Variant) {
        let workgroup = self.context.workgroup();
        self.kernels
            .prepare(&self.context.device, workgroup, kernel, variant);
    }

    /// Uploads s, mask and score factors where they are used and missing.
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
        submission: &mut Submission,
        head: u32,
        rows: RowRange,
    ) -> [Arg<'_>; 5] {
        let params = submission.params(&head_params(shown, rows));
        let sizes = &shown.sizes;
        let factors = shown.frame.score_factors.as_ref();
        let ranked = factors.filter(|_| shown.frame.config.score_rank.is_some());
        let [q, k] = if let Some(factors) = ranked {
            let width = factors.q.shape.get(2).copied().unwrap_or(1);
            let bytes = row_bytes(sizes.seq_len + 1, width);
            [Name::QFactor, Name::KFactor].map(|name| self.of_head(name, head, bytes))
        } else {
            let keys = if shown.frame.has_key_bias() {
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

    /// Row statistics of one head; where scores are cached, also its scores, in the texels of the
    /// large map.
    pub(super) fn stats(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (head, rows, scores_cached) = (job.unit, job.rows, job.scores_cached);
        self.supply(shown);
        let variant = Variant {
            scores_cached,
            ..variant(shown, Quantity::Weights)
        };
        if scores_cached && let Some(map) = &shown.frame.map {
            self.map_texels(map);
        }
        self.need(Kernel::Stats, variant);
        let bytes = shown.stats.head_bytes * shown.stats.slots as u64;
        self.store.ensure(&self.context.device, Name::Stats, bytes);
        let group = self.head_args(shown, submission, head, rows);
        let threads = u64::from((rows.1 - rows.0).div_ceil(4));
        let texels = if scores_cached {
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
            submission,
            (Kernel::Stats, variant, threads, timed),
            &[&group, &stats],
        );
        true
    }

    /// q, k or v of one head: projected from X, or copied if given.
    pub(super) fn project(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (head, rows) = (job.unit, job.rows);
        let Some(part) = part_of(job.pass) else {
            return true;
        };
        let sizes = &shown.sizes;
        let layer = &shown.frame.layer;
        self.need(Kernel::Linear, Variant::default());
        let (name, weight, bias) = match part {
            Part::Q => (Name::Q, Name::WQ, Name::BQ),
            Part::K => (Name::K, Name::WK, Name::BK),
            Part::V => (Name::V, Name::WV, Name::BV),
        };
        self.uploader().head_space(name, sizes);
        match source(layer, part, head as usize) {
            Source::Given(mut numbers) => {
                if rows.0 == 0 {
                    if part == Part::K {
                        let common = common_row(&numbers, sizes.head_dim);
                        numbers = centred_rows(&numbers, &common);
                        numbers.extend(common);
                    }
                    self.uploader().head(
                        name,
                        &numbers,
                        sizes.head_dim,
                        head as usize,
                        sizes.head_bytes,
                    );
                }
            }
            Source::Projected(linear) => {
                let Input::Hidden { x, .. } = &layer.input else {
                    return true;
                };
                let outs = linear.weight.shape.first().copied().unwrap_or(0);
                if !self.store.is_uploaded(Name::X) {
                    let common = common_row(&x.data, sizes.input_dim);
                    let centred = centred_rows(&x.data, &common);
                    self.uploader().matrix(Name::X, &centred, sizes.input_dim);
                }
                if !self.store.is_uploaded(weight) {
                    let common = common_row(&x.data, sizes.input_dim);
                    let moved = common_output(linear, &common, 0..outs);
                    self.uploader().weight(weight, &linear.weight);
                    self.uploader().numbers(bias, &moved);
                }
                if part == Part::K && rows.0 == 0 {
                    let common = common_row(&x.data, sizes.input_dim);
                    let first = head as usize * sizes.head_dim;
                    let shared = common_output(linear, &common, first..first + sizes.head_dim);
                    self.uploader().common_row(name, &shared, head, sizes);
                }
                let params = LinearParams {
                    row0: rows.0,
                    row_end: rows.1,
                    inner: sizes.input_dim as u32,
                    x_stride: vec4s(sizes.input_dim) as u32,
                    w_stride: outs as u32,
                    w_col0: head * sizes.head_dim as u32,
                    outs: sizes.head_dim as u32,
                    y_stride: sizes.head_stride as u32 * 4,
                    // The bias adds the same to all keys: it is in the row after the last key.
                    has_bias: u32::from(part != Part::K),
                    first: 0,
                    start: NOTHING,
                    to: 0,
                };
                let out = self.of_head(name, head, sizes.head_bytes);
                self.linear(submission, params, timed, [Name::X, weight, bias], out);
            }
        }
        true
    }

    /// Y = X Wᵀ + b with X, W and b from the store; the pipeline must exist.
    pub(super) fn linear(
        &self,
        submission: &mut Submission,
        params: LinearParams,
        timed: Timed,
        [x, w, b]: [Name; 3],
        out: Arg<'_>,
    ) {
        let threads = u64::from((params.row_end - params.row0).div_ceil(8))
            * u64::from(params.outs.div_ceil(4));
        let args = [
            submission.params(&params),
            self.whole(x),
            self.whole(w),
            self.whole(b),
            out,
        ];
        self.launch(submission, (Kernel::Linear, threads, timed), &[&args]);
    }

    /// k' = k + P_K or v' = v + P_V of one head.
    pub(super) fn bias(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (sizes, head, of_keys) = (&shown.sizes, job.unit, job.pass == Pass::KeyBias);
        let biases = &shown.frame.biases;
        let (base, unit_name, out, bias) = if of_keys {
            (Name::K, Name::PK, Name::KBiased, &biases.p_k)
        } else {
            (Name::V, Name::PV, Name::VBiased, &biases.p_v)
        };
        let Some(bias) = bias else {
            return true;
        };
        self.need(Kernel::Bias, Variant::default());
        let rows = bias.unit.shape.get(1).copied().unwrap_or(1);
        let unit_bytes = row_bytes(rows + 1, sizes.head_dim);
        if !self.store.is_head_uploaded(unit_name, head) {
            self.uploader()
                .unit_head(unit_name, &bias.unit, head, unit_bytes, of_keys);
        }
        self.uploader().head_space(out, sizes);
        let count = (sizes.seq_len * sizes.head_stride) as u32;
        let params = BiasParams {
            count,
            period: (rows * sizes.head_stride) as u32,
            amplitude: bias.amplitude,
            stride: sizes.head_stride as u32,
        };
        let args = [
            submission.params(&params),
            self.of_head(base, head, sizes.head_bytes),
            self.of_head(unit_name, head, unit_bytes),
            self.of_head(out, head, sizes.head_bytes),
        ];
        let threads = u64::from(count + params.stride);
        self.launch(submission, (Kernel::Bias, threads, timed), &[&args]);
        true
    }

    /// Allocates the texels of the large map.
    pub(super) fn map_texels(&mut self, map: &MapView) {
        let texels = u64::from(map.texel_rows) * u64::from(map.texel_cols);
        self.store
            .ensure(&self.context.device, Name::MapTexels, texels * 8);
    }

    /// Texel rows of the large map; where scores are cached, from the scores that the statistics
    /// wrote there.
    pub(super) fn map(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (rows, scores_cached) = (job.rows, job.scores_cached);
        let Some(map) = &shown.frame.map else {
            return true;
        };
        self.map_texels(map);
        let params = MapParams {
            row: map.rect.row,
            col: map.rect.col,
            rows: map.rect.rows,
            cols: map.rect.cols,
            texel_rows: map.texel_rows,
            texel_cols: map.texel_cols,
            first: rows.0,
            end: rows.1,
            pool: map.pool as u32,
            pad: [0; 3],
        };
        let kernel = if map.has_texel_per_cell() {
            Kernel::Map
        } else {
            Kernel::Pool
        };
        let place = Place {
            range: 0,
            texels: (Name::MapTexels, 0, 0),
        };
        let variant = Variant {
            scores_cached,
            ..variant(shown, map.quantity)
        };
        self.texels(
            shown,
            submission,
            map.head,
            (kernel, variant, params),
            place,
            timed,
        );
        true
    }

    /// Texel rows of the small map of one head.
    pub(super) fn small_map(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        job: Job,
        timed: Timed,
    ) -> bool {
        let (head, rows) = (job.unit, job.rows);
        let Some(strip) = &shown.frame.strip else {
            return true;
        };
        let bytes = aligned(u64::from(strip.texels).pow(2) * 8);
        self.store.ensure(
            &self.context.device,
            Name::StripTexels,
            bytes * shown.sizes.heads as u64,
        );
        let len = shown.sizes.seq_len as u32;
        let params = MapParams {
            rows: len,
            cols: len,
            texel_rows: strip.texels,
            texel_cols: strip.texels,
            first: rows.0,
            end: rows.1,
            ..MapParams::default()
        };
        let kernel = if strip.texels == len {
            Kernel::Map
        } else {
            Kernel::Pool
        };
        let place = Place {
            range: 2 + u64::from(head),
            texels: (Name::StripTexels, u64::from(head) * bytes, bytes),
        };
        let variant = variant(shown, strip.quantity);
        self.texels(
            shown,
            submission,
            head,
            (kernel, variant, params),
            place,
            timed,
        );
        true
    }

    /// Encodes `map` or `pool` for the texel rows of `params`.
    fn texels(
        &mut self,
        shown: &Shown,
        submission: &mut Submission,
        head: u32,
        (kernel, variant, params): (Kernel, Variant, MapParams),
        place: Place,
        timed: Timed,
    ) {
        self.supply(shown);
        self.need(kernel, variant);
        self.ensure_ranges(&shown.sizes);
        if params.first == 0 {
            self.clear_range(submission, place.range);
        }
        let texel_rows = u64::from(params.end - params.first);
        let threads = if kernel == Kernel::Map {
            texel_rows.div_ceil(4) * u64::from(params.texel_cols.div_ceil(4))
        } else {
            texel_rows * u64::from(params.texel_cols)
        };
        let rows = (0, shown.sizes.seq_len as u32);
        let group = self.head_args(shown, submission, head, rows);
        let (name, offset, size) = place.texels;
        let out = [
            self.stats_arg(&shown.stats, head),
            submission.params(&params),
            Arg::Span(self.span(name, offset, size)),
            Arg::Span(self.range(place.range)),
        ];
        self.launch_variant(
            submission,
            (kernel, variant, threads, timed),
            &[&group, &out],
        );
    }

    pub(super) fn ensure_ranges(&mut self, sizes: &PaddedSizes) {
        let bytes = (2 + sizes.heads as u64) * ALIGN;
        self.store.ensure(&self.context.device, Name::Ranges, bytes);
    }

    pub(super) fn clear_range(&self, submission: &mut Submission, at: u64) {
        if let Some(buffer) = self.store.get(Name::Ranges) {
            submission.encoder.clear_buffer(buffer, at * ALIGN, Some(8));
        }
    }

    pub(super) fn range(&self, at: u64) -> Span<'_> {
        self.span(Name::Ranges, at * ALIGN, 8)
    }
}

/// Bytes from one head to the next of a dense s.
fn dense_bytes(sizes: &PaddedSizes) -> u64 {
    aligned((sizes.seq_len as u64).pow(2) * 4)
}

/// Where a map kernel writes.
#[derive(Clone, Copy)]
struct Place {
    /// Number of the range.
    range: u64,
    /// Buffer, first byte, bytes.
    texels: (Name, u64, u64),
}

/// The part that a pass projects.
pub(super) fn part_of(pass: Pass) -> Option<Part> {
    match pass {
        Pass::Query => Some(Part::Q),
        Pass::Key => Some(Part::K),
        Pass::Value => Some(Part::V),
        _ => None,
    }
}
