//! What the page asks the CPU engine's worker, and what it answers.

use attnscope_engine::{FrameReport, MapValues};
use serde::{Deserialize, Serialize};

use super::blobs::{BlobReader, BlobWriter};
use super::codec::ProtocolError;
use super::frame_message::FrameMessage;

/// What the page asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CpuRequest {
    /// The blob is the next chunk of tensor `tensor` of the Frame that comes next: large tensors go
    /// before their Frame, one after the other, [`CHUNK`](super::CHUNK) numbers at a time.
    Chunk {
        /// Which tensor, as [`Packed::tensors`](super::frame_message::Packed::tensors) counts them.
        tensor: u32,
        /// Which chunk of it.
        at: u32,
    },
    /// Draw this Frame. Its new tensors are the blobs, unless they came in chunks.
    Draw(Box<FrameMessage>),
    /// Do one more piece of what is left of the Frame.
    Step,
    /// The values of its large map.
    ReadMap,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CpuResponse {
    /// The chunk was taken.
    Chunk,
    /// What was drawn, and what is left; the answer to `Draw` and `Step`.
    Drawn(Box<Drawn>),
    /// The values of the large map.
    Map(MapMessage),
    /// Could not be done, and why.
    Failed(String),
}

/// What was drawn, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawn {
    /// Whether anything is left.
    pub more: bool,
    /// Whether a part of the large map is.
    pub partial: bool,
    /// How much of the large map is there, 0 ..= 1, while its picture is coarse.
    pub progress: Option<f64>,
    /// Whether small maps of the Frame are still to come.
    pub strip_waits: bool,
    /// Numbers of the picture; its Frame is not counted here.
    pub report: FrameReport,
    /// Pictures by slot, where they were drawn anew.
    pub pictures: [Option<PictureHandle>; 3],
}

/// A picture beside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureHandle {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Place of its RGBA bytes among the blobs.
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
    /// `map`, its numbers put beside the message.
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
    /// When they are not as many as the map has texels.
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
