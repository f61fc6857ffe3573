//! Requests of the page to the compute worker, and its responses.

use attnscope_attention::low_rank::{OutFactors, ScoreFactors};
use attnscope_attention::project::Projected;
use attnscope_attention::reference::HeadFactors;
use attnscope_attention::summary::Summary;
use attnscope_scene::bias_tensor::Unit;
use attnscope_scene::resolve::Sizes;
use serde::{Deserialize, Serialize};

use super::blobs::{BlobReader, BlobWriter, TensorHandle};
use super::codec::ProtocolError;

/// Layers that the worker keeps; the page shows one at a time and may return to the previous one.
pub const KEPT_LAYERS: usize = 2;
/// Beyond this L the summary of a head would keep the worker busy for seconds.
pub const MAX_SUMMARY_LEN: usize = 2048;

/// A request of the page. Scenes travel as links, which lose nothing and always give a legal Scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ComputeRequest {
    /// Store the layer of a source. The blobs are its three files (hidden, qk, vo), none for a
    /// synthetic source, whose W_O is in the response; [`ComputeRequest::Chunk`] brings the rest.
    Layer {
        /// Identity of the layer on the page.
        id: u64,
        /// Link of a Scene with this source.
        scene: String,
    },
    /// One chunk of q, k and v of a layer, each tensor with chunks of its own.
    Chunk {
        /// Which layer.
        layer: u64,
        /// Which chunk, of [`CHUNK`](super::CHUNK) numbers.
        at: usize,
    },
    /// W_1, W_2 and σ of W_O.
    OutFactors {
        /// Which layer.
        layer: u64,
    },
    /// q̃ and k̃ of all heads with the Scene's P_K.
    ScoreFactors {
        /// Which layer.
        layer: u64,
        /// Link of the Scene with that P_K.
        scene: String,
    },
    /// One chunk of the numbers of a bias at amplitude 1. The worker computes them for the first
    /// chunk and keeps them until the last one, or until a request for a chunk that does not exist.
    BiasChunk {
        /// H, L, d_h.
        sizes: Sizes,
        /// Which chunk, of [`CHUNK`](super::CHUNK) numbers.
        at: usize,
        /// Which bias.
        of: Unit,
        /// Link of the Scene with shape and seed.
        scene: String,
    },
    /// The summary of the Scene's head.
    Summary {
        /// Which layer.
        layer: u64,
        /// Link of the Scene.
        scene: String,
    },
    /// q and k of one head in f64, with the factors of its score with a Scene's P_K if requested.
    Head {
        /// Which layer.
        layer: u64,
        /// Which head.
        head: usize,
        /// Link of the Scene with that P_K; `None` requests no factors.
        factors: Option<String>,
    },
}

/// A response of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ComputeResponse {
    /// The layer was stored.
    Layer,
    /// A synthetic layer was made.
    Synthetic {
        /// Labels of its tokens.
        tokens: Vec<String>,
        /// W_O `[d, d]`.
        w_o: TensorHandle,
    },
    /// The blob beside this response holds the f32 numbers of the chunk.
    Chunk,
    /// The factors of W_O.
    OutFactors(OutFactorsMessage),
    /// The factors of q k'ᵀ of all heads.
    ScoreFactors(ScoreFactorsMessage),
    /// The summary of a head; `None` beyond [`MAX_SUMMARY_LEN`].
    Summary(Option<Summary>),
    /// q and k of a head in f64.
    Head(HeadMessage),
    /// The request failed, with the reason.
    Failed(String),
}

/// [`OutFactors`] in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutFactorsMessage {
    w_1: TensorHandle,
    w_2: TensorHandle,
    sigma: u32,
}

impl OutFactorsMessage {
    /// Packs `factors`, adding their numbers to the blobs.
    pub fn new(factors: &OutFactors, blobs: &mut BlobWriter) -> Self {
        Self {
            w_1: blobs.tensor(&factors.w_1),
            w_2: blobs.tensor(&factors.w_2),
            sigma: blobs.floats(&factors.sigma),
        }
    }

    /// Unpacks the factors; `id` is this side's number for them.
    ///
    /// # Errors
    /// When a blob is missing or has another length.
    pub fn read(self, id: u64, blobs: &mut BlobReader) -> Result<OutFactors, ProtocolError> {
        Ok(OutFactors {
            id,
            w_1: blobs.tensor(&self.w_1)?,
            w_2: blobs.tensor(&self.w_2)?,
            sigma: blobs.floats(self.sigma)?.into(),
        })
    }
}

/// [`ScoreFactors`] in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreFactorsMessage {
    q: TensorHandle,
    k: TensorHandle,
}

impl ScoreFactorsMessage {
    /// Packs `factors`, adding their numbers to the blobs.
    pub fn new(factors: &ScoreFactors, blobs: &mut BlobWriter) -> Self {
        Self {
            q: blobs.tensor(&factors.q),
            k: blobs.tensor(&factors.k),
        }
    }

    /// Unpacks the factors; `id` is this side's number for them.
    ///
    /// # Errors
    /// When a blob is missing or has another length.
    pub fn read(self, id: u64, blobs: &mut BlobReader) -> Result<ScoreFactors, ProtocolError> {
        Ok(ScoreFactors {
            id,
            q: blobs.tensor(&self.q)?,
            k: blobs.tensor(&self.k)?,
        })
    }
}

/// q and k of a head in a message, `[L, d_h]` each, and its factors, `[L, n]` each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadMessage {
    q: u32,
    k: u32,
    factors: Option<(u32, u32)>,
}

impl HeadMessage {
    /// Packs q and k of `projected` and the factors, adding their numbers to the blobs.
    pub fn new(
        projected: &Projected,
        factors: Option<&HeadFactors>,
        blobs: &mut BlobWriter,
    ) -> Self {
        Self {
            q: blobs.doubles(&projected.q),
            k: blobs.doubles(&projected.k),
            factors: factors.map(|of| (blobs.doubles(&of.q), blobs.doubles(&of.k))),
        }
    }

    /// Unpacks q and k, without values, and the factors, of a head of `seq_len` tokens.
    ///
    /// # Errors
    /// When a blob is missing, or q and k differ in length.
    pub fn read(
        self,
        seq_len: usize,
        blobs: &mut BlobReader,
    ) -> Result<(Projected, Option<HeadFactors>), ProtocolError> {
        let mut pair = |q, k| {
            let (q, k) = (blobs.doubles(q)?, blobs.doubles(k)?);
            if q.len() == k.len() && q.len().checked_rem(seq_len) == Some(0) {
                Ok((q, k))
            } else {
                Err(ProtocolError::MissingTensor)
            }
        };
        let (q, k) = pair(self.q, self.k)?;
        let factors = self.factors.map(|(q, k)| pair(q, k)).transpose()?;
        let factors = factors.map(|(q, k)| HeadFactors {
            width: q.len() / seq_len,
            q,
            k,
        });
        Ok((Projected { q, k, v: None }, factors))
    }
}
