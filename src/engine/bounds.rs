//! A Frame held to its layer and to the device before anything is computed from it.

use std::sync::Arc;

use crate::attention::layer::{PositionBias, ScoreBias};
use crate::engine::sizes::{aligned, fits, strip_texels};
use crate::engine::{EngineError, Frame};

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

/// Whether what depends on the Frame and not only on the layer fits the device.
pub(crate) fn check_frame(frame: &Frame, binding: u64, buffer: u64) -> Result<(), EngineError> {
    let texel_bytes = 8;
    if let Some(map) = &frame.map {
        let texels = u64::from(map.texel_rows) * u64::from(map.texel_cols);
        fits(texels * texel_bytes, binding)?;
    }
    if let Some(strip) = &frame.strip {
        let one = aligned(u64::from(strip.texels).pow(2) * texel_bytes);
        fits(one * frame.layer.heads as u64, buffer)?;
    }
    if let Some(output) = &frame.output {
        let texels = u64::from(output.texel_rows) * u64::from(output.texel_cols);
        fits(2 * texels * texel_bytes, binding)?;
    }
    if let Some(ScoreBias::Dense(s)) = &frame.biases.s {
        fits(s.data.len() as u64 * 4, buffer)?;
    }
    Ok(())
}
