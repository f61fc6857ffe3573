//! One attention layer as data: tensors and their sizes (SPEC "Sizes and symbols").

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A dense row-major f32 tensor. Cloning shares the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Extent of each axis, outermost first.
    pub shape: Vec<usize>,
    /// `shape` product many numbers.
    pub data: Arc<[f32]>,
}

/// Shape and number of elements do not belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeMismatch {
    /// The shape that was asked for.
    pub shape: Vec<usize>,
    /// How many numbers were given.
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
    /// Hidden states `[L, d]` and the three projections; a missing one is "projection skipped":
    /// X split into heads.
    Hidden {
        /// `[L, d]`.
        x: Tensor,
        /// Query projection.
        w_q: Option<Linear>,
        /// Key projection.
        w_k: Option<Linear>,
        /// Value projection. `None` with `values_pending` set: not downloaded yet.
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
    /// No output projection is given: Y is concat(O).
    Identity,
    /// W_O `[d, d]` and b_O; low rank comes from its truncated SVD.
    Full(Linear),
    /// Factors of the file's own: `Y = (O w_1ᵀ) w_2ᵀ + b`, w_1 `[r, d]`, w_2 `[d, r]`.
    Factors {
        /// `[r, d]`.
        w_1: Tensor,
        /// `[d, r]`.
        w_2: Tensor,
        /// `[d]`.
        bias: Option<Tensor>,
    },
}

/// One layer, immutable once made. Two layers are the same when their `id` is.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Identity for caches: a new number for every layer that is loaded.
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
    /// `Some(h)` when this is a first-picture preview that holds only head `h` of the real layer
    /// (then `heads` is 1) and no values; the whole layer follows.
    pub preview_of: Option<usize>,
}

impl Layer {
    /// A layer of given q, k, v, each `[H, L, d_h]`, without mask and output projection.
    ///
    /// # Errors
    /// When one of them has not three axes, is empty, or has another shape than q.
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

    /// The same layer with the projections skipped: q = k = v = X split into heads. A layer that
    /// brings q, k and v themselves has no projection to skip and stays as it is.
    pub fn skip_projections(&mut self) {
        if let Input::Hidden { w_q, w_k, w_v, .. } = &mut self.input {
            (*w_q, *w_k, *w_v) = (None, None, None);
        }
    }
}

/// Biases as the engine wants them: unit tensors and amplitudes, so that an amplitude alone moves
/// without new data.
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
        /// What is taken away from every entry before it is rounded: it moves no weight, and the
        /// entries keep their digits (SPEC 7). Engines leave it out.
        common: f64,
    },
    /// `[H, L, L]`, for small L only.
    Dense(Tensor),
}

/// A number that no other layer, factor or tensor of this process has had.
pub fn fresh_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
