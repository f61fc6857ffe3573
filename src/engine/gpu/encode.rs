//! Each job of one head as a launch: parameters, bindings, threads.

use crate::attention::layer::{Input, ScoreBias};
use crate::attention::visibility::Visibility;
use crate::engine::Frame;
use crate::engine::sizes::{ALIGN, Sizes, StatSizes, aligned, vec4s};

use super::engine::{GpuEngine, Shown};
use super::gpu_data::{self as data, BiasParams, HeadParams, LinearParams, MapParams};
use super::heatmap::{Tile, Viewport, output_tiles, strip_tile};
use super::jobs::{Job, Part, Rows, has_bias, is_crisp};
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::store::{Name, Span};
use super::surface::Slot;
use super::upload::{Source, Uploader, packed_mask, source};

impl GpuEngine {
    /// Encodes `job` into `slice`; uploads that it needs are queued before.
    pub(super) fn encode(&mut self, slice: &mut Slice, job: Job, timed: Timed) {
        let Some(shown) = self.shown.take() else {
            return;
        };
        match job {
            Job::Project(part, head, rows) => self.project(&shown, slice, part, head, rows, timed),
            Job::Bias(part, head) => self.bias(&shown, slice, part, head, timed),
            Job::Stats(head, rows) => self.stats(&shown, slice, head, rows, timed),
            Job::Map(rows) => self.map(&shown, slice, rows, timed),
            Job::Strip(head, rows) => self.small_map(&shown, slice, head, rows, timed),
            Job::DrawMap => self.draw_map(&shown, slice, timed),
            Job::DrawStrip => self.draw_strip(&shown, slice, timed),
            Job::DrawOutput => self.draw_output(&shown, slice, timed),
            Job::Attend(..)
            | Job::Full(_)
            | Job::Components(_)
            | Job::LowRank(_)
            | Job::Energy
            | Job::OutputTexels => self.encode_output(&shown, slice, job, timed),
        }
        self.shown = Some(shown);
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

    fn span(&self, name: Name, offset: u64, size: u64) -> Span<'_> {
        self.store.span(name, offset, size).unwrap_or(Span {
            buffer: &self.dummy,
            offset: 0,
            size: 0,
        })
    }

    pub(super) fn of_head(&self, name: Name, head: u32, bytes: u64) -> Arg<'_> {
        Arg::Span(self.span(name, u64::from(head) * bytes, bytes))
    }

    pub(super) fn launch(
        &self,
        slice: &mut Slice,
        what: (Kernel, u64, Timed),
        groups: &[&[Arg<'_>]],
    ) {
        self.launcher
            .dispatch(&self.context, &self.kernels, slice, what, groups);
    }

    /// q, k or v of one head: projected from X, or copied from what was given.
    fn project(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        part: Part,
        head: u32,
        rows: Rows,
        timed: Timed,
    ) {
        let sizes = &shown.sizes;
        let layer = &shown.frame.layer;
        let (name, weight, bias) = match part {
            Part::Q => (Name::Q, Name::WQ, Name::BQ),
            Part::K => (Name::K, Name::WK, Name::BK),
            Part::V => (Name::V, Name::WV, Name::BV),
        };
        self.uploader().head_space(name, sizes);
        match source(layer, part, head as usize) {
            Source::Given(numbers) => {
                if rows.0 == 0 {
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
                if !self.store.is_uploaded(weight) {
                    self.uploader().linear(weight, bias, linear);
                }
                if let Input::Hidden { x, .. } = &layer.input
                    && !self.store.is_uploaded(Name::X)
                {
                    self.uploader().matrix(Name::X, &x.data, sizes.input_dim);
                }
                let params = LinearParams {
                    row0: rows.0,
                    row_end: rows.1,
                    inner: sizes.input_dim as u32,
                    x_stride: vec4s(sizes.input_dim) as u32,
                    w_stride: vec4s(sizes.input_dim) as u32,
                    w_row0: head * sizes.head_dim as u32,
                    outs: sizes.head_dim as u32,
                    y_stride: sizes.head_stride as u32 * 4,
                    has_bias: u32::from(linear.bias.is_some()),
                    _pad: [0; 3],
                };
                let out = self.of_head(name, head, sizes.head_bytes);
                self.linear(slice, params, timed, [Name::X, weight, bias], out);
            }
        }
    }

    /// Y = X Wᵀ + b with X, W and b from the store.
    pub(super) fn linear(
        &self,
        slice: &mut Slice,
        params: LinearParams,
        timed: Timed,
        [x, w, b]: [Name; 3],
        out: Arg<'_>,
    ) {
        let threads = u64::from((params.row_end - params.row0).div_ceil(4))
            * u64::from(params.outs.div_ceil(4));
        let args = [
            slice.params(&params),
            self.whole(x),
            self.whole(w),
            self.whole(b),
            out,
        ];
        self.launch(slice, (Kernel::Linear, threads, timed), &[&args]);
    }

    /// k' = k + P_K or v' = v + P_V of one head.
    fn bias(&mut self, shown: &Shown, slice: &mut Slice, part: Part, head: u32, timed: Timed) {
        let sizes = &shown.sizes;
        let (base, unit_name, out, bias) = match part {
            Part::V => (Name::V, Name::PV, Name::VBiased, &shown.frame.biases.p_v),
            Part::Q | Part::K => (Name::K, Name::PK, Name::KBiased, &shown.frame.biases.p_k),
        };
        let Some(bias) = bias else {
            return;
        };
        let rows = bias.unit.shape.get(1).copied().unwrap_or(1);
        let unit_bytes = aligned(rows as u64 * sizes.head_stride as u64 * 16);
        if !self.store.is_uploaded(unit_name) {
            self.uploader().heads(unit_name, &bias.unit, unit_bytes);
        }
        self.uploader().head_space(out, sizes);
        let count = (sizes.seq_len * sizes.head_stride) as u32;
        let params = BiasParams {
            count,
            period: (rows * sizes.head_stride) as u32,
            amplitude: bias.amplitude,
            _pad: 0,
        };
        let args = [
            slice.params(&params),
            self.of_head(base, head, sizes.head_bytes),
            self.of_head(unit_name, head, unit_bytes),
            self.of_head(out, head, sizes.head_bytes),
        ];
        self.launch(slice, (Kernel::Bias, u64::from(count), timed), &[&args]);
    }

    /// Uploads s, mask and score factors where they are used and not there.
    pub(super) fn supply(&mut self, shown: &Shown) {
        let frame = &shown.frame;
        if let (true, Some(s)) = (frame.config.reading.uses_score_bias(), &frame.biases.s)
            && !self.store.is_uploaded(Name::S)
        {
            match s {
                ScoreBias::Curve(curve) => self.uploader().numbers(Name::S, curve),
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
            let bytes = aligned(shown.sizes.seq_len as u64 * vec4s(width) as u64 * 16);
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
        let [q, k] = match (&shown.frame.config.score_rank, &shown.frame.score_factors) {
            (Some(_), Some(factors)) => {
                let width = vec4s(factors.q.shape.get(2).copied().unwrap_or(1));
                let bytes = aligned(sizes.seq_len as u64 * width as u64 * 16);
                [Name::QFactor, Name::KFactor].map(|name| self.of_head(name, head, bytes))
            }
            _ => {
                let keys = if has_bias(&shown.frame, Part::K) {
                    Name::KBiased
                } else {
                    Name::K
                };
                [Name::Q, keys].map(|name| self.of_head(name, head, sizes.head_bytes))
            }
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

    fn stats(&mut self, shown: &Shown, slice: &mut Slice, head: u32, rows: Rows, timed: Timed) {
        self.supply(shown);
        let bytes = shown.stats.head_bytes * shown.stats.slots as u64;
        self.store.ensure(&self.context.device, Name::Stats, bytes);
        let group = self.head_args(shown, slice, head, rows);
        let threads = u64::from((rows.1 - rows.0).div_ceil(4));
        let stats = [self.stats_arg(&shown.stats, head)];
        self.launch(slice, (Kernel::Stats, threads, timed), &[&group, &stats]);
    }

    fn map(&mut self, shown: &Shown, slice: &mut Slice, rows: Rows, timed: Timed) {
        let Some(map) = &shown.frame.map else {
            return;
        };
        let texels = u64::from(map.texel_rows) * u64::from(map.texel_cols);
        self.store
            .ensure(&self.context.device, Name::MapTexels, texels * 8);
        let params = MapParams {
            row: map.rect.row,
            col: map.rect.col,
            rows: map.rect.rows,
            cols: map.rect.cols,
            texel_rows: map.texel_rows,
            texel_cols: map.texel_cols,
            first: rows.0,
            end: rows.1,
            quantity: map.quantity as u32,
            pool: map.pool as u32,
            _pad: [0; 2],
        };
        let kernel = if is_crisp(map) {
            Kernel::Map
        } else {
            Kernel::Pool
        };
        let place = Place {
            range: 0,
            texels: (Name::MapTexels, 0, 0),
        };
        self.texels(shown, slice, map.head, (kernel, params), place, timed);
    }

    fn small_map(&mut self, shown: &Shown, slice: &mut Slice, head: u32, rows: Rows, timed: Timed) {
        let Some(strip) = &shown.frame.strip else {
            return;
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
            quantity: strip.quantity as u32,
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
        self.texels(shown, slice, head, (kernel, params), place, timed);
    }

    /// Encodes `map` or `pool` for the texel rows of `params`.
    fn texels(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        head: u32,
        (kernel, params): (Kernel, MapParams),
        place: Place,
        timed: Timed,
    ) {
        self.supply(shown);
        self.ensure_ranges(&shown.sizes);
        if params.first == 0 {
            self.clear_range(slice, place.range);
        }
        let texel_rows = u64::from(params.end - params.first);
        let threads = if kernel == Kernel::Map {
            texel_rows.div_ceil(4) * u64::from(params.texel_cols.div_ceil(4))
        } else {
            texel_rows * u64::from(params.texel_cols)
        };
        let rows = (0, shown.sizes.seq_len as u32);
        let group = self.head_args(shown, slice, head, rows);
        let (name, offset, size) = place.texels;
        let out = [
            self.stats_arg(&shown.stats, head),
            slice.params(&params),
            Arg::Span(self.span(name, offset, size)),
            Arg::Span(self.range(place.range)),
        ];
        self.launch(slice, (kernel, threads, timed), &[&group, &out]);
    }

    pub(super) fn ensure_ranges(&mut self, sizes: &Sizes) {
        let bytes = (2 + sizes.heads as u64) * ALIGN;
        self.store.ensure(&self.context.device, Name::Ranges, bytes);
    }

    pub(super) fn clear_range(&self, slice: &mut Slice, at: u64) {
        if let Some(buffer) = self.store.get(Name::Ranges) {
            slice.encoder.clear_buffer(buffer, at * ALIGN, Some(8));
        }
    }

    pub(super) fn range(&self, at: u64) -> Span<'_> {
        self.span(Name::Ranges, at * ALIGN, 8)
    }

    fn draw_map(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
        let (Some(map), Some((_, size))) = (&shown.frame.map, self.target(Slot::Map)) else {
            return;
        };
        let viewport = Viewport {
            x: 0.0,
            y: 0.0,
            width: size.0 as f32,
            height: size.1 as f32,
        };
        let texels = (map.texel_rows, map.texel_cols);
        let tile = (viewport, texels, 0, (Name::MapTexels, 0, 0), 0);
        self.draw_tiles(slice, Slot::Map, map.colors, &[tile], timed);
    }

    fn draw_strip(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
        let (Some(strip), Some((_, size))) = (&shown.frame.strip, self.target(Slot::Strip)) else {
            return;
        };
        let heads = shown.sizes.heads as u32;
        let bytes = aligned(u64::from(strip.texels).pow(2) * 8);
        let tiles: Vec<_> = (0..heads)
            .filter_map(|head| {
                let viewport = strip_tile(size, heads, strip.columns, strip.gap, head)?;
                let texels = (strip.texels, strip.texels);
                let place = (Name::StripTexels, u64::from(head) * bytes, bytes);
                Some((viewport, texels, 0, place, 2 + u64::from(head)))
            })
            .collect();
        self.draw_tiles(slice, Slot::Strip, strip.colors, &tiles, timed);
    }

    fn draw_output(&mut self, shown: &Shown, slice: &mut Slice, timed: Timed) {
        let (Some(output), Some((_, size))) = (&shown.frame.output, self.target(Slot::Output))
        else {
            return;
        };
        let Some([low, full]) = output_tiles(size) else {
            return;
        };
        let texels = (output.texel_rows, output.texel_cols);
        let half = output.texel_rows * output.texel_cols;
        let place = (Name::OutputTexels, 0, 0);
        let tiles = [(low, texels, 0, place, 1), (full, texels, half, place, 1)];
        self.draw_tiles(slice, Slot::Output, output.colors, &tiles, timed);
    }

    /// Format and size of the target of `slot`, when it can be drawn to.
    fn target(&self, slot: Slot) -> Option<(wgpu::TextureFormat, (u32, u32))> {
        self.targets[slot as usize]
            .as_ref()
            .map(|t| (t.format(), t.size()))
            .filter(|(_, (w, h))| *w > 0 && *h > 0)
    }

    fn draw_tiles(
        &mut self,
        slice: &mut Slice,
        slot: Slot,
        colors: crate::engine::Colors,
        tiles: &[TilePlace],
        timed: Timed,
    ) {
        let Some((format, _)) = self.target(slot) else {
            return;
        };
        // Texels that no pass has written yet are drawn as masked, not as an error.
        if tiles.iter().any(|t| self.store.get(t.3.0).is_none()) {
            return;
        }
        self.heatmap.prepare(&self.context, format);
        let canvas = self.targets[slot as usize]
            .as_ref()
            .and_then(|t| t.acquire(&self.context));
        let Some(canvas) = canvas else {
            return;
        };
        let tiles: Vec<_> = tiles
            .iter()
            .map(
                |&(viewport, texels, offset, (name, at, size), range)| Tile {
                    viewport,
                    texels,
                    offset,
                    values: self.span(name, at, size),
                    range: self.range(range),
                },
            )
            .collect();
        self.heatmap.draw(
            &self.context,
            &self.launcher,
            slice,
            (&canvas.view(), format, timed),
            (&colors, self.hatch_step),
            &tiles,
        );
        self.canvases.push(canvas);
    }
}

/// Viewport, texels, first texel, texels' place in the store, number of the range.
type TilePlace = (Viewport, (u32, u32), u32, (Name, u64, u64), u64);

/// Where a map kernel writes.
struct Place {
    /// Number of the range.
    range: u64,
    /// Buffer, first byte, bytes.
    texels: (Name, u64, u64),
}

/// Bytes from one head to the next of a dense s.
fn dense_bytes(sizes: &Sizes) -> u64 {
    aligned((sizes.seq_len as u64).pow(2) * 4)
}

/// The parameters of a launch over `rows`.
fn head_params(shown: &Shown, rows: Rows) -> HeadParams {
    let (frame, sizes, stats) = (&shown.frame, &shown.sizes, &shown.stats);
    let config = &frame.config;
    let (width, stride) = score_width(frame, sizes);
    let limits = Limits::new(&config.visibility, sizes.seq_len);
    HeadParams {
        seq_len: sizes.seq_len as u32,
        width,
        stride,
        scale: config.scale as f32,
        reading: config.reading as u32,
        flags: limits.flags
            | if frame.layer.mask.is_some() {
                data::FLAG_MASK
            } else {
                0
            },
        left: limits.left,
        right: limits.right,
        dilation: limits.dilation,
        kept: limits.kept,
        globals: limits.globals,
        segment: stats.segment as u32,
        segments: stats.segments as u32,
        stat_stride: stats.stride as u32,
        s_kind: match &frame.biases.s {
            None => data::S_NONE,
            Some(_) if !config.reading.uses_score_bias() => data::S_NONE,
            Some(ScoreBias::Curve(_)) => data::S_CURVE,
            Some(ScoreBias::Dense(_)) => data::S_DENSE,
        },
        row0: rows.0,
        row_end: rows.1,
        _pad: [0; 3],
    }
}

/// Numbers of a query row that take part, and vec4s from row to row.
fn score_width(frame: &Frame, sizes: &Sizes) -> (u32, u32) {
    match (frame.config.score_rank, &frame.score_factors) {
        (Some(rank), Some(factors)) => {
            let width = factors.q.shape.get(2).copied().unwrap_or(1);
            (rank.min(width as u32), vec4s(width) as u32)
        }
        _ => (sizes.head_dim as u32, sizes.head_stride as u32),
    }
}

/// A visibility rule in the shader's numbers.
struct Limits {
    flags: u32,
    left: i32,
    right: i32,
    dilation: i32,
    kept: i32,
    globals: i32,
}

impl Limits {
    fn new(v: &Visibility, seq_len: usize) -> Self {
        let len = seq_len as i32;
        let mut flags = 0;
        for (on, flag) in [
            (v.causal, data::FLAG_CAUSAL),
            (v.left.is_some(), data::FLAG_LEFT_LIMITED),
            (v.right.is_some(), data::FLAG_RIGHT_LIMITED),
        ] {
            flags |= if on { flag } else { 0 };
        }
        // Beyond L every reach means the same; within it no sum overflows.
        let reach = |side: Option<i32>| side.unwrap_or(0).clamp(-len, len);
        let count = |n: u32| n.min(seq_len as u32) as i32;
        Self {
            flags,
            left: reach(v.left),
            right: reach(v.right),
            dilation: count(v.dilation.max(1)).max(1),
            kept: count(v.sinks.max(v.globals)),
            globals: count(v.globals),
        }
    }
}
