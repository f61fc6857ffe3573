//! Texels of the large map and of the small ones, and their ranges.

use attnscope_engine::MapView;
use attnscope_engine::jobs::{Rows, is_crisp};
use attnscope_engine::sizes::{ALIGN, Sizes, aligned};

use super::engine::{GpuEngine, Shown};
use super::gpu_data::MapParams;
use super::kernel::Kernel;
use super::launch::{Arg, Slice, Timed};
use super::params::variant;
use super::store::Span;
use super::variant::Variant;
use attnscope_engine::needs::Name;

impl GpuEngine {
    /// Room for the texels of the large map.
    pub(super) fn map_texels(&mut self, map: &MapView) {
        let texels = u64::from(map.texel_rows) * u64::from(map.texel_cols);
        self.store
            .ensure(&self.context.device, Name::MapTexels, texels * 8);
    }

    /// Texel rows of the large map; where `kept`, from the scores that the statistics have left there.
    pub(super) fn map(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        (rows, kept): (Rows, bool),
        timed: Timed,
    ) {
        let Some(map) = &shown.frame.map else {
            return;
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
        let kernel = if is_crisp(map) {
            Kernel::Map
        } else {
            Kernel::Pool
        };
        let place = Place {
            range: 0,
            texels: (Name::MapTexels, 0, 0),
        };
        let variant = Variant {
            kept,
            ..variant(shown, map.quantity)
        };
        self.texels(
            shown,
            slice,
            map.head,
            (kernel, variant, params),
            place,
            timed,
        );
    }

    pub(super) fn small_map(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        head: u32,
        rows: Rows,
        timed: Timed,
    ) {
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
        self.texels(shown, slice, head, (kernel, variant, params), place, timed);
    }

    /// Encodes `map` or `pool` for the texel rows of `params`.
    fn texels(
        &mut self,
        shown: &Shown,
        slice: &mut Slice,
        head: u32,
        (kernel, variant, params): (Kernel, Variant, MapParams),
        place: Place,
        timed: Timed,
    ) {
        self.supply(shown);
        self.need(kernel, variant);
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
        self.launch_variant(slice, (kernel, variant, threads, timed), &[&group, &out]);
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
}

/// Where a map kernel writes.
#[derive(Clone, Copy)]
struct Place {
    /// Number of the range.
    range: u64,
    /// Buffer, first byte, bytes.
    texels: (Name, u64, u64),
}
