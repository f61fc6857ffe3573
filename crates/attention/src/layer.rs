//! One attention layer as data: tensors and their sizes (SPEC "Sizes and symbols").

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A dense row-major f32 tensor. Cloning shares the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Extent of each axis, outermost first.
    pub shape: Vec<usize>,
    /// The numbers, as many as the product of `shape`.
    pub data: Arc<[f32]>,
}

/// The shape does not match the number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeMismatch {
    /// The requested shape.
    pub shape: Vec<usize>,
    /// How many numbers there are.
    pub len: usize,
}

impl std::fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shape, len } = self;
        write!(f, "{len} numbers do not make a tensor of shape {shape:?}")
    }
}

impl std::error::Error for ShapeMismatch {}

impl Tensor {
    /// A tensor of `shape` over `data`.
    ///
    /// # Errors
    /// When the product of `shape` is not the number of elements.
    pub fn new(shape: &[usize], data: impl Into<Arc<[f32]>>) -> Result<Self, ShapeMismatch> {
        let data = data.into();
        let product = shape.iter().try_fold(1usize, |a, &n| a.checked_mul(n));
        if product == Some(data.len()) {
            Ok(Self {
                shape: shape.to_vec(),
                data,
            })
        } else {
            Err(ShapeMismatch {
                shape: shape.to_vec(),
                len: data.len(),
            })
        }
    }

    /// The contiguous slice of the leading index `at` (head `at` of an `[H, …]` tensor).
    ///
    /// # Panics
    /// When `at` is not below `shape[0]`: a bug of the caller.
    pub fn outer(&self, at: usize) -> &[f32] {
        let step = self.data.len() / self.shape[0];
        &self.data[at * step..(at + 1) * step]
    }
}

/// A linear map in PyTorch order: `y = x Wᵀ + b`, W `[out, in]`, b `[out]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// `[out, in]`.
    pub weight: Tensor,
    /// `[out]`, or nothing.
    pub bias: Option<Tensor>,
}

/// Where q, k, v come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Hidden states `[L, d]` and the three projections; a missing projection is "projection
    /// skipped": X split into heads.
    Hidden {
        /// `[L, d]`.
        x: Tensor,
        /// Query projection.
        w_q: Option<Linear>,
        /// Key projection.
        w_k: Option<Linear>,
        /// Value projection. `None` in a preview (`preview_of`): not downloaded yet.
        w_v: Option<Linear>,
    },
    /// Given directly, each `[H, L, head_dim]`.
    Heads {
        /// Queries.
        q: Tensor,
        /// Keys.
        k: Tensor,
        /// Values.
        v: Tensor,
    },
}

/// What follows the heads: `Y = concat(O) W_Oᵀ + b_O`.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// The layer has no output projection: Y is concat(O).
    Identity,
    /// W_O `[d, d]` and b_O; low rank comes from its truncated SVD.
    Full(Linear),
    /// Factors from the file: `Y = (O w_1ᵀ) w_2ᵀ + b`, w_1 `[r, d]`, w_2 `[d, r]`.
    Factors {
        /// `[r, d]`.
        w_1: Tensor,
        /// `[d, r]`.
        w_2: Tensor,
        /// `[d]`.
        bias: Option<Tensor>,
    },
}

/// One layer; it never changes. Two layers are the same when their `id` is.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Cache key: every loaded layer has a new number.
    pub id: u64,
    /// H.
    pub heads: usize,
    /// L.
    pub seq_len: usize,
    /// d_h.
    pub head_dim: usize,
    /// Source of q, k, v.
    pub input: Input,
    /// What follows the heads.
    pub output: Output,
    /// Boolean mask `[L, L]`, row = query, non-zero = visible; `None` = all.
    pub mask: Option<Arc<[u8]>>,
    /// `Some(h)` in a preview for the first picture, which has only head `h` of the real layer
    /// (then `heads` is 1) and no values; the whole layer follows.
    pub preview_of: Option<usize>,
}

impl Layer {
    /// A layer of the given q, k, v, each `[H, L, d_h]`, without mask and output projection.
    ///
    /// # Errors
    /// When one of them does not have three axes, is empty, or has another shape than q.
    pub fn of_heads(q: Tensor, k: Tensor, v: Tensor) -> Result<Self, ShapeMismatch> {
        let wrong = |tensor: &Tensor| ShapeMismatch {
            shape: q.shape.clone(),
            len: tensor.data.len(),
        };
        let [heads, seq_len, head_dim] = q.shape[..] else {
            return Err(wrong(&q));
        };
        if let Some(odd) = [&q, &k, &v]
            .into_iter()
            .find(|tensor| tensor.shape != q.shape || tensor.data.is_empty())
        {
            return Err(wrong(odd));
        }
        Ok(Self {
            id: fresh_id(),
            heads,
            seq_len,
            head_dim,
            input: Input::Heads { q, k, v },
            output: Output::Identity,
            mask: None,
            preview_of: None,
        })
    }

    /// Model width d = H·d_h.
    pub fn model_dim(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Skips the projections: q = k = v = X split into heads. A layer with its own q, k and v has
    /// no projection to skip and does not change.
    pub fn skip_projections(&mut self) {
        if let Input::Hidden { w_q, w_k, w_v, .. } = &mut self.input {
            (*w_q, *w_k, *w_v) = (None, None, None);
        }
    }
}

/// Biases in the form that engines need: unit tensors and amplitudes, so that an amplitude can
/// change without new data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Biases {
    /// P_K.
    pub p_k: Option<PositionBias>,
    /// P_V.
    pub p_v: Option<PositionBias>,
    /// s.
    pub s: Option<ScoreBias>,
}

/// P_K or P_V: `amplitude · unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionBias {
    /// `[H, 1, d_h]` (shared) or `[H, L, d_h]` (per position).
    pub unit: Tensor,
    /// Factor on `unit`.
    pub amplitude: f32,
}

/// s (SPEC "Sizes and symbols").
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreBias {
    /// The same curve for every head.
    Curve {
        /// By offset: entry `j − i + L − 1`, `2L − 1` entries, without `common`.
        table: Arc<[f32]>,
        /// Subtracted from every entry before rounding: it moves no weight, and the entries keep
        /// their digits (SPEC 7). Engines leave it out.
        common: f64,
    },
    /// `[H, L, L]`, for small L only.
    Dense(Tensor),
}

/// A number that no other layer, factor or tensor of this process has.
pub fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
