//! Converts the choices of a Frame to the parameters and constants of its kernels.

use attnscope_attention::layer::ScoreBias;
use attnscope_engine::Frame;
use attnscope_engine::sizes::{PaddedSizes, vec4s};
use attnscope_engine::steps::RowRange;
use attnscope_scene::Quantity;

use super::engine::Shown;
use super::gpu_data::{self as data, HeadParams};
use super::passes::Variant;

/// The pipeline variant that the choices of the Frame need.
pub(super) fn variant(shown: &Shown, quantity: Quantity) -> Variant {
    let (config, stats) = (&shown.frame.config, &shown.stats);
    let (width, _) = score_width(&shown.frame, &shown.sizes);
    Variant {
        reading: config.reading as u32,
        s_kind: match &shown.frame.biases.s {
            None => data::S_NONE,
            Some(_) if !config.reading.uses_score_bias() => data::S_NONE,
            Some(ScoreBias::Curve { .. }) => data::S_CURVE,
            Some(ScoreBias::Dense(_)) => data::S_DENSE,
        },
        segments: match stats.segments {
            1 => data::SEGMENTS_ONE,
            n if stats.stride > n => data::SEGMENTS_STORED,
            _ => data::SEGMENTS_RECOMPUTED,
        },
        masked: shown.frame.layer.mask.is_some(),
        fully_masked: config.empty as u32,
        dilated: config.visibility.dilation > 1,
        // Rows are padded with zeros; only a rank cuts a vec4 whose other numbers are not zero.
        ragged_width: config.score_rank.is_some() && !width.is_multiple_of(4),
        scores_cached: false,
        quantity: quantity as u32,
    }
}

/// The parameters of a launch over `rows`.
pub(super) fn head_params(shown: &Shown, rows: RowRange) -> HeadParams {
    let (frame, sizes, stats) = (&shown.frame, &shown.sizes, &shown.stats);
    let config = &frame.config;
    let (width, stride) = score_width(frame, sizes);
    let v = &config.visibility;
    let len = sizes.seq_len as i32;
    // Beyond L every reach means the same; within it no sum overflows.
    let reach = |side: Option<i32>| side.unwrap_or(0).clamp(-len, len);
    let count = |n: u32| n.min(sizes.seq_len as u32) as i32;
    let flags = [
        (v.causal, data::FLAG_CAUSAL),
        (v.left.is_some(), data::FLAG_LEFT_LIMITED),
        (v.right.is_some(), data::FLAG_RIGHT_LIMITED),
    ];
    HeadParams {
        seq_len: sizes.seq_len as u32,
        width,
        stride,
        scale: config.scale as f32,
        flags: flags
            .into_iter()
            .filter_map(|(on, flag)| on.then_some(flag))
            .sum(),
        left: reach(v.left),
        right: reach(v.right),
        dilation: count(v.dilation.max(1)).max(1),
        prefix_keys: count(v.sinks.max(v.globals)),
        globals: count(v.globals),
        segment: stats.segment as u32,
        segments: stats.segments as u32,
        stat_stride: stats.stride as u32,
        row0: rows.0,
        row_end: rows.1,
        key_end: v.key_end(sizes.seq_len) as u32,
    }
}

/// Numbers of a query row in the score, and vec4s from row to row.
fn score_width(frame: &Frame, sizes: &PaddedSizes) -> (u32, u32) {
    match (frame.config.score_rank, &frame.score_factors) {
        (Some(rank), Some(factors)) => {
            let width = factors.q.shape.get(2).copied().unwrap_or(1);
            (rank.min(width as u32), vec4s(width) as u32)
        }
        _ => (sizes.head_dim as u32, sizes.head_stride as u32),
    }
}
