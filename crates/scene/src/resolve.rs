//! Resolves a Scene for a layer: choices become the numbers and tensors of SPEC 1–4.

use super::{
    Bias, BiasShape, ColorScale, Convention, Curve, FIRST_HEAD, Mechanism, Quantity, Rect, Scale,
    Scene, Window,
};
use attnscope_attention::bias;
use attnscope_attention::config::{Config, Reading};
use attnscope_attention::layer::{Biases, Layer, PositionBias, ScoreBias, Tensor};
use attnscope_attention::visibility::Visibility;
use serde::{Deserialize, Serialize};

/// The sizes of a layer (SPEC "Sizes and symbols").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sizes {
    /// H.
    pub heads: usize,
    /// L.
    pub seq_len: usize,
    /// d_h.
    pub head_dim: usize,
}

impl From<&Layer> for Sizes {
    fn from(layer: &Layer) -> Self {
        Self {
            heads: layer.heads,
            seq_len: layer.seq_len,
            head_dim: layer.head_dim,
        }
    }
}

/// Longest text whose weights can be told apart by linear colours, in tokens.
pub const LINEAR_TOKENS: usize = 64;

/// Largest dense s in numbers, H·L²; a larger one is left out, and the page says so.
pub const MAX_DENSE: usize = 4_000_000;

impl Sizes {
    /// Whether a dense s of these sizes is small enough to compute.
    pub fn dense_fits(self) -> bool {
        let cells = self.seq_len.checked_mul(self.seq_len);
        let all = cells.and_then(|cells| cells.checked_mul(self.heads));
        all.is_some_and(|all| all <= MAX_DENSE)
    }

    /// d = H·d_h.
    pub fn model_dim(self) -> usize {
        self.heads * self.head_dim
    }
}

impl Scene {
    /// Whether the window applies.
    pub fn window_acts(&self) -> bool {
        match self.mechanism {
            Mechanism::Full => false,
            Mechanism::Window => true,
            Mechanism::Cjar => self.windowed,
        }
    }

    /// The layer for this Scene: with or without its projections.
    #[must_use]
    pub fn taken(&self, mut layer: Layer) -> Layer {
        if !self.projected {
            layer.skip_projections();
        }
        layer
    }

    /// Which keys a query may see (SPEC 2), for any layer: padding and the causal switch in every
    /// mechanism, the window where it applies.
    pub fn visibility(&self) -> Visibility {
        let mut visibility = Visibility::default();
        if self.window_acts() {
            visibility = self.window.visibility();
        }
        visibility.causal |= self.causal;
        visibility.padding = self.padding;
        visibility
    }

    /// Every number of SPEC 1–4. Outside CJAR the reading is softmax and there are no segments and
    /// no ranks. A rank without effect (ρ ≥ d_h or ρ ≥ L, r ≥ d) and a segment that covers all keys
    /// (B ≥ L) become `None`.
    pub fn config(&self, sizes: Sizes) -> Config {
        let scale = match self.scale {
            Scale::HeadDim => 1.0 / (sizes.head_dim.max(1) as f64).sqrt(),
            Scale::ModelDim => 1.0 / (sizes.model_dim().max(1) as f64).sqrt(),
            Scale::Free(value) => f64::from(value),
        };
        let mut config = Config {
            visibility: self.visibility(),
            scale,
            reading: Reading::Softmax,
            empty: self.empty,
            segment: None,
            score_rank: None,
            out_rank: None,
        };
        if self.mechanism == Mechanism::Cjar {
            let below = |number: Option<u32>, size: usize| {
                number.map(|n| n.max(1)).filter(|&n| (n as usize) < size)
            };
            config.reading = self.cjar.reading;
            config.segment = below(self.cjar.segment, sizes.seq_len);
            // q k'ᵀ of one head has at most min(L, d_h) singular values.
            let score_rank = sizes.head_dim.min(sizes.seq_len);
            config.score_rank = below(self.cjar.score_rank, score_rank);
            config.out_rank = below(self.cjar.out_rank, sizes.model_dim());
        }
        config
    }

    /// P_K, P_V and s as tensors; all absent outside CJAR, each absent at amplitude 0, s absent
    /// where the reading ignores it. Allocates new tensors: O(H·L·d_h) for a bias per position.
    /// Callers that follow a slider cache them by their parameters (see [`position_bias`]).
    pub fn biases(&self, sizes: Sizes) -> Biases {
        if self.mechanism != Mechanism::Cjar {
            return Biases::default();
        }
        let cjar = &self.cjar;
        Biases {
            p_k: position_bias(&cjar.p_k, sizes),
            p_v: position_bias(&cjar.p_v, sizes),
            s: (cjar.reading.uses_score_bias() && cjar.s.amplitude != 0.0)
                .then(|| {
                    let dense = cjar.s.dense && sizes.dense_fits();
                    score_bias(
                        &cjar.s,
                        sizes,
                        dense.then(|| dense_unit(cjar.s.seed, sizes)),
                    )
                })
                .flatten(),
        }
    }

    /// Whether weights can be negative.
    pub fn is_signed(&self) -> bool {
        self.mechanism == Mechanism::Cjar && self.cjar.reading.is_signed()
    }

    /// How colours are spread over the range of a map of `seq_len` tokens.
    pub fn color_scale(&self, seq_len: usize) -> ColorScale {
        self.view
            .color
            .unwrap_or_else(|| self.automatic_scale(seq_len))
    }

    /// The default scale: linear, but logarithmic for the weights of a long text. The weights of a
    /// row sum to 1, so that a typical weight there is a thousandth of the largest. Numbers that
    /// can be negative stay linear. The window does not matter: colours keep their meaning while it
    /// moves.
    pub fn automatic_scale(&self, seq_len: usize) -> ColorScale {
        let long = seq_len > LINEAR_TOKENS;
        if long && self.view.quantity == Quantity::Weights && !self.is_signed() {
            ColorScale::Log
        } else {
            ColorScale::Linear
        }
    }

    /// The chosen head, or the last head of the layer.
    pub fn head(&self, heads: usize) -> usize {
        let asked = self.view.head.unwrap_or(FIRST_HEAD) as usize;
        asked.min(heads.saturating_sub(1))
    }

    /// The visible rectangle of an `[L, L]` map: within the map and never empty.
    pub fn rect(&self, seq_len: usize) -> Rect {
        let len = u32::try_from(seq_len).unwrap_or(u32::MAX);
        Rect::visible(self.view.rect, len)
    }

    /// The locked cell (query, key), if the layer has it.
    pub fn cell(&self, seq_len: usize) -> Option<(usize, usize)> {
        self.view
            .cell
            .map(|(row, col)| (row as usize, col as usize))
            .filter(|&(row, col)| row < seq_len && col < seq_len)
    }
}

impl Window {
    /// The inclusive distances (left, right) of this window and whether its convention is causal
    /// (SPEC 2); `None` is unlimited.
    pub fn reach(&self) -> (Option<i32>, Option<i32>, bool) {
        let w = i32::try_from(self.size).unwrap_or(i32::MAX);
        match self.convention {
            Convention::Distance => (Some(w), Some(w), false),
            Convention::CausalDistance => (Some(w), Some(0), true),
            Convention::CausalCount => (Some(w - 1), Some(0), true),
            Convention::Longformer => (Some(w / 2), Some(w / 2), false),
            Convention::Explicit => (self.left, self.right, false),
        }
    }

    /// The visibility rule of this window alone.
    pub fn visibility(&self) -> Visibility {
        let (left, right, causal) = self.reach();
        Visibility {
            causal,
            left,
            right,
            dilation: self.dilation.max(1),
            sinks: self.sinks,
            globals: self.globals,
            padding: 0,
        }
    }
}

/// P_K or P_V for a layer; `None` at amplitude 0. The unit tensor depends only on `shape`,
/// `per_position`, `seed` and the sizes: a caller that follows the amplitude can keep it.
pub fn position_bias(bias: &Bias, sizes: Sizes) -> Option<PositionBias> {
    (bias.amplitude != 0.0).then(|| PositionBias {
        unit: unit(bias, sizes),
        amplitude: bias.amplitude,
    })
}

/// The unit tensor of a position bias, `[H, 1, d_h]` shared or `[H, L, d_h]` per position.
pub fn unit(bias: &Bias, sizes: Sizes) -> Tensor {
    let Sizes {
        heads,
        seq_len,
        head_dim,
    } = sizes;
    let rows = if bias.per_position { seq_len } else { 1 };
    match bias.shape {
        BiasShape::Normal => bias::normal(heads, rows, head_dim, bias.seed),
        BiasShape::Xavier => bias::xavier(heads, rows, head_dim, bias.seed),
        BiasShape::Sinusoidal => bias::sinusoidal(heads, rows, head_dim),
        BiasShape::OneHot => bias::one_hot(heads, rows, head_dim, bias.seed),
    }
}

/// s for a layer. If it is dense, `unit` has the numbers of [`dense_unit`]; `None` when those are
/// too many to compute.
pub fn score_bias(s: &Curve, sizes: Sizes, unit: Option<Tensor>) -> Option<ScoreBias> {
    if !s.dense {
        return Some(bias::offset_curve(sizes.seq_len, |o| s.at_offset(o)));
    }
    let mut made = unit?;
    made.data = made.data.iter().map(|x| s.amplitude * x).collect();
    Some(ScoreBias::Dense(made))
}

/// The numbers of a dense s `[H, L, L]` at amplitude 1.
pub fn dense_unit(seed: u32, sizes: Sizes) -> Tensor {
    bias::dense(sizes.heads, sizes.seq_len, seed)
}

impl Curve {
    /// s at offset `o = j − i`, including amplitude. A bump or a wave of height 0 is skipped, so
    /// that it costs nothing.
    pub fn at_offset(&self, o: f64) -> f64 {
        let of = f64::from;
        let mut sum = of(self.slope) * o - of(self.decay) * o.abs();
        if self.wave != 0.0 {
            sum += of(self.wave) * libm::cos(std::f64::consts::TAU * o / of(self.period));
        }
        if self.bump != 0.0 {
            let from_centre = (o - of(self.at)) / of(self.width);
            sum += of(self.bump) * libm::exp(-0.5 * from_centre * from_centre);
        }
        of(self.amplitude) * sum
    }
}
