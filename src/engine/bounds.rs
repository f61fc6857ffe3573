//! A Frame held to its layer before anything is computed from it.

use std::sync::Arc;

use crate::attention::layer::PositionBias;
use crate::engine::Frame;
use crate::engine::sizes::strip_texels;

/// Identity of the unit tensor: an amplitude alone moves without an upload.
pub fn unit_address(bias: Option<&PositionBias>) -> Option<usize> {
    bias.map(|b| Arc::as_ptr(&b.unit.data).addr())
}

/// `frame` with head, rectangle and texels inside the layer, whatever was asked for.
pub(crate) fn within_bounds(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    let len = (frame.layer.seq_len as u32).max(1);
    let width = (frame.layer.model_dim() as u32).max(1);
    if let Some(map) = &mut frame.map {
        map.head = map.head.min((frame.layer.heads as u32).saturating_sub(1));
        let rect = &mut map.rect;
        rect.row = rect.row.min(len - 1);
        rect.col = rect.col.min(len - 1);
        rect.rows = rect.rows.clamp(1, len - rect.row);
        rect.cols = rect.cols.clamp(1, len - rect.col);
        map.texel_rows = map.texel_rows.clamp(1, rect.rows);
        map.texel_cols = map.texel_cols.clamp(1, rect.cols);
    }
    if let Some(strip) = &mut frame.strip {
        strip.texels = strip_texels(frame.layer.seq_len, strip.texels);
    }
    if let Some(output) = &mut frame.output {
        output.texel_rows = output.texel_rows.clamp(1, len);
        output.texel_cols = output.texel_cols.clamp(1, width);
    }
    frame
}
