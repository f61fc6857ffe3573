//! What is computed: the numbers that turn q, k, v into weights (SPEC 1–4).

use serde::{Deserialize, Serialize};

use super::visibility::Visibility;

/// How a weight is made from score and auxiliary bias (SPEC 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum Reading {
    /// `A = segsoftmax(r)`: full and window attention, and CJAR as its listing computes it.
    #[default]
    Softmax = 0,
    /// `A = segsoftmax(r + s)`: s re-weights inside the softmax.
    Bias = 1,
    /// `A = r · segsoftmax(s)`: the CJAR formula taken literally; weights may be negative.
    Product = 2,
}

impl Reading {
    /// Whether weights of this reading can be negative and rows may not sum to one.
    pub fn is_signed(self) -> bool {
        self == Self::Product
    }

    /// Whether the auxiliary bias s takes part.
    pub fn uses_score_bias(self) -> bool {
        self != Self::Softmax
    }
}

/// What a fully masked row gets (SPEC 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u32)]
pub enum FullyMasked {
    /// Nothing: A = 0 and O = 0 exactly.
    #[default]
    Zero = 0,
    /// The mean of all values, every key with the weight 1/L: what masking with −1e9 before the
    /// softmax silently does, as in the CJAR listing.
    Mean = 1,
}

/// Every number and choice of SPEC 1–4; tensors are in the layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Which keys a query may see, before the optional boolean mask of the layer.
    pub visibility: Visibility,
    /// The factor of q·k' (SPEC 1), already resolved: 1/√head_dim unless chosen otherwise.
    pub scale: f64,
    /// How weights are made.
    pub reading: Reading,
    /// What a fully masked row gets.
    pub empty: FullyMasked,
    /// Keys per segment of the normalisation; `None` is one segment over all keys (SPEC 3).
    pub segment: Option<u32>,
    /// Rank ρ of the score per head; `None` is the full score.
    pub score_rank: Option<u32>,
    /// Rank r of the output projection; `None` is the full W_O.
    pub out_rank: Option<u32>,
}

impl Config {
    /// Plain full attention for heads of width `head_dim`.
    pub fn full(head_dim: usize) -> Self {
        Self {
            visibility: Visibility::default(),
            scale: 1.0 / (head_dim as f64).sqrt(),
            reading: Reading::Softmax,
            empty: FullyMasked::Zero,
            segment: None,
            score_rank: None,
            out_rank: None,
        }
    }

    /// Segment length as a number: `seq_len` when there is one segment. Never 0.
    pub fn segment_len(&self, seq_len: usize) -> usize {
        self.segment
            .map_or(seq_len, |b| (b as usize).min(seq_len))
            .max(1)
    }
}
