//! What the CJAR mechanism adds, as the reader sets it.

use serde::{Deserialize, Serialize};

use attnscope_attention::config::Reading;

/// What CJAR adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cjar {
    /// How the formula is read.
    pub reading: Reading,
    /// Keys per segment; `None` is one segment.
    pub segment: Option<u32>,
    /// Bias of the keys.
    pub p_k: Bias,
    /// Bias of the values.
    pub p_v: Bias,
    /// Auxiliary bias over the offset j − i.
    pub s: Curve,
    /// ρ; `None` is the full score.
    pub score_rank: Option<u32>,
    /// r; `None` is the full W_O.
    pub out_rank: Option<u32>,
}

impl Default for Cjar {
    fn default() -> Self {
        Self {
            reading: Reading::Bias,
            segment: None,
            p_k: Bias::default(),
            p_v: Bias::default(),
            s: Curve::default(),
            score_rank: None,
            out_rank: None,
        }
    }
}

/// Shape of a position bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BiasShape {
    /// Standard normal numbers, like `torch.randn` in the listing.
    #[default]
    Normal,
    /// Xavier normal with gain 0.02: the initial values in the CJAR text.
    Xavier,
    /// Sines and cosines of the position.
    Sinusoidal,
    /// One dimension of every head is 1.
    OneHot,
}

/// P_K or P_V as the reader sets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bias {
    /// Factor; 0 means no bias.
    pub amplitude: f32,
    /// Shape of the unit tensor.
    pub shape: BiasShape,
    /// One row per head for all positions (as in the listing), or one per position.
    pub per_position: bool,
    /// Seed of the random shapes; hot dimension of `OneHot` (modulo d_h).
    pub seed: u32,
}

impl Default for Bias {
    fn default() -> Self {
        Self {
            amplitude: 0.0,
            shape: BiasShape::Normal,
            per_position: true,
            seed: 1,
        }
    }
}

/// s over the offset o = j − i:
/// `amplitude · (slope·o + decay·(−|o|) + wave·cos(2π o / period) + bump·exp(−((o − at)/width)²/2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// Factor on the whole curve; 0 means no bias.
    pub amplitude: f32,
    /// Per token, increasing to the right.
    pub slope: f32,
    /// Per token of distance, decreasing on both sides (ALiBi's shape).
    pub decay: f32,
    /// Height of the cosine.
    pub wave: f32,
    /// Period of the cosine in tokens; > 0.
    pub period: f32,
    /// Height of the bump.
    pub bump: f32,
    /// Offset of the bump's centre.
    pub at: f32,
    /// Width of the bump in tokens; > 0.
    pub width: f32,
    /// Instead of the curve: a normal random number for every head, query and key.
    pub dense: bool,
    /// Seed of the dense numbers.
    pub seed: u32,
}

impl Default for Curve {
    fn default() -> Self {
        Self {
            amplitude: 0.0,
            slope: 0.0,
            decay: 0.5,
            wave: 0.0,
            period: 8.0,
            bump: 0.0,
            at: -3.0,
            width: 1.0,
            dense: false,
            seed: 1,
        }
    }
}
