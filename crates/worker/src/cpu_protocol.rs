//! Requests of the page to the CPU engine's worker, and its responses.

use attnscope_engine::{FrameReport, MapValues};
use serde::{Deserialize, Serialize};

use super::blobs::{BlobReader, BlobWriter};
use super::codec::ProtocolError;
use super::frame_message::FrameMessage;

/// A request of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CpuRequest {
    /// The blob is the next chunk of tensor `tensor` of the next Frame: large tensors go before
    /// their Frame, one after the other, [`CHUNK`](super::CHUNK) numbers at a time.
    Chunk {
        /// Which tensor, by its index in
        /// [`Packed::tensors`](super::frame_message::Packed::tensors).
        tensor: u32,
        /// Which chunk of it.
        at: u32,
    },
    /// Draw this Frame. Its new tensors are the blobs, unless they came in chunks.
    Draw(Box<FrameMessage>),
    /// Do one more part of the Frame's remaining work.
    Step,
    /// Read the values of its large map.
    ReadMap,
}

/// A response of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CpuResponse {
    /// The chunk was stored.
    Chunk,
    /// What was drawn, and what is left; the response to `Draw` and `Step`.
    Drawn(Box<Drawn>),
    /// The values of the large map.
    Map(MapMessage),
    /// The request failed, with the reason.
    Failed(String),
}

/// What was drawn, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// Whether any work is left.
    pub more: bool,
    /// Whether a part of the large map is left.
    pub partial: bool,
    /// How much of the large map is done, 0 ..= 1, while its picture is coarse.
    pub progress: Option<f64>,
    /// Whether small maps of the Frame are still to come.
    pub strip_waits: bool,
    /// Numbers of the picture; the worker does not count Frames.
    pub report: FrameReport,
    /// Pictures by slot, if they were redrawn.
    pub pictures: [Option<PictureHandle>; 3],
}

/// A picture beside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureHandle {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Index of its RGBA bytes among the blobs.
    pub rgba: u32,
}

/// [`MapValues`] in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapMessage {
    rows: u32,
    cols: u32,
    values: u32,
    visible: u32,
}

impl MapMessage {
    /// Packs `map`, adding its numbers to the blobs.
    pub fn new(map: &MapValues, blobs: &mut BlobWriter) -> Self {
        Self {
            rows: map.rows,
            cols: map.cols,
            values: blobs.floats(&map.values),
            visible: blobs.floats(&map.visible),
        }
    }

    /// The values, of Frame number `frame`.
    ///
    /// # Errors
    /// When their number does not match the texels of the map.
    pub fn read(self, frame: u64, blobs: &mut BlobReader) -> Result<MapValues, ProtocolError> {
        let (values, visible) = (blobs.floats(self.values)?, blobs.floats(self.visible)?);
        let texels = u64::from(self.rows) * u64::from(self.cols);
        if [values.len(), visible.len()]
            .iter()
            .any(|&n| n as u64 != texels)
        {
            return Err(ProtocolError::MissingTensor);
        }
        Ok(MapValues {
            frame,
            rows: self.rows,
            cols: self.cols,
            values,
            visible,
        })
    }
}
