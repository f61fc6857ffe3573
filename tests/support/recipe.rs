//! Frames from a few small numbers: what property tests draw at random, and what they print when
//! one fails.

use std::sync::Arc;

use attnscope_attention::bias::Numbers;
use attnscope_attention::config::{Config, FullyMasked, Reading};
use attnscope_attention::layer::{
    Biases, Input, Layer, Linear, Output, PositionBias, ScoreBias, Tensor, fresh_id,
};
use attnscope_attention::low_rank;
use attnscope_attention::visibility::Visibility;
use attnscope_engine::Frame;

/// P_K or P_V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// One row per position, or one for all.
    pub each: bool,
    pub amplitude: f32,
}

/// s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auxiliary {
    Curve(f32),
    Dense(f32),
}

/// Where q, k, v come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Given.
    Heads,
    /// From X; each of W_Q, W_K, W_V is there or skipped, with or without b.
    Hidden { weights: [bool; 3], bias: bool },
}

/// What follows the heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    None,
    Full {
        bias: bool,
    },
    /// W_O at a rank.
    Ranked {
        rank: u32,
        bias: bool,
    },
    /// Factors of the layer's own.
    Given {
        rank: u32,
        bias: bool,
    },
}

/// A layer and its choices. Numbers follow from `seed`.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    pub seed: u32,
    pub heads: usize,
    pub seq_len: usize,
    pub head_dim: usize,
    /// Standard deviation of q and k (or X).
    pub strength: f32,
    /// In units of 1/√d_h.
    pub scale: f64,
    pub visibility: Visibility,
    /// Share of cells that a boolean mask hides.
    pub hidden: Option<f64>,
    pub reading: Reading,
    pub empty: FullyMasked,
    pub segment: Option<u32>,
    pub s: Option<Auxiliary>,
    /// Added to every number of s.
    pub s_common: f32,
    /// Added to every key that is given, with signs that alternate over its numbers.
    pub k_common: f32,
    pub p_k: Option<Position>,
    pub p_v: Option<Position>,
    pub score_rank: Option<u32>,
    pub source: Source,
    pub output: Projection,
}

impl Default for Recipe {
    /// Plain full attention of two heads.
    fn default() -> Self {
        Self {
            seed: 1,
            heads: 2,
            seq_len: 13,
            head_dim: 8,
            strength: 1.0,
            scale: 1.0,
            visibility: Visibility::default(),
            hidden: None,
            reading: Reading::Softmax,
            empty: FullyMasked::Zero,
            segment: None,
            s: None,
            s_common: 0.0,
            k_common: 0.0,
            p_k: None,
            p_v: None,
            score_rank: None,
            source: Source::Heads,
            output: Projection::None,
        }
    }
}

impl Recipe {
    /// The layer, its choices and its factors, with nothing on screen yet.
    pub fn frame(&self) -> Frame {
        let layer = Arc::new(Layer {
            id: fresh_id(),
            heads: self.heads,
            seq_len: self.seq_len,
            head_dim: self.head_dim,
            input: self.input(),
            output: self.projection(),
            mask: self.mask(),
            preview_of: None,
        });
        layer.check().unwrap();
        let biases = self.biases();
        biases.check(&layer).unwrap();
        let score_factors = self
            .score_rank
            .map(|_| Arc::new(low_rank::score_factors(&layer, &biases).unwrap()));
        let (out_rank, out_factors) = match (&layer.output, self.output) {
            (Output::Full(linear), Projection::Ranked { rank, .. }) => {
                let factors = low_rank::out_factors(&linear.weight).unwrap();
                (Some(rank), Some(Arc::new(factors)))
            }
            _ => (None, None),
        };
        Frame {
            config: Config {
                visibility: self.visibility,
                scale: self.scale / (self.head_dim as f64).sqrt(),
                reading: self.reading,
                empty: self.empty,
                segment: self.segment,
                score_rank: self.score_rank,
                out_rank,
            },
            layer,
            biases,
            score_factors,
            out_factors,
            map: None,
            strip: None,
            output: None,
        }
    }

    fn model_dim(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Even numbers about 0; every tensor has a stream of its own, so that one more moves no other.
    fn tensor(&self, stream: u64, shape: &[usize], spread: f32) -> Tensor {
        let mut numbers = Numbers::new(self.seed, stream);
        let reach = spread * 3.0f32.sqrt();
        let data: Vec<f32> = (0..shape.iter().product())
            .map(|_| reach * (2.0 * numbers.uniform() - 1.0) as f32)
            .collect();
        Tensor::new(shape, data).unwrap()
    }

    fn linear(&self, stream: u64, bias: bool) -> Linear {
        let d = self.model_dim();
        Linear {
            weight: self.tensor(stream, &[d, d], 1.0 / (d as f32).sqrt()),
            bias: bias.then(|| self.tensor(stream + 1, &[d], 0.5)),
        }
    }

    fn keys(&self, shape: &[usize]) -> Tensor {
        let mut keys = self.tensor(1, shape, self.strength);
        if self.k_common != 0.0 {
            let added = [self.k_common, -self.k_common, self.k_common];
            let number = |(at, k): (usize, &f32)| k + added[at % self.head_dim % 3];
            keys.data = keys.data.iter().enumerate().map(number).collect();
        }
        keys
    }

    fn input(&self) -> Input {
        let shape = [self.heads, self.seq_len, self.head_dim];
        match self.source {
            Source::Heads => Input::Heads {
                q: self.tensor(0, &shape, self.strength),
                k: self.keys(&shape),
                v: self.tensor(2, &shape, 1.0),
            },
            Source::Hidden { weights, bias } => {
                let linear = |at: usize| weights[at].then(|| self.linear(10 + 2 * at as u64, bias));
                Input::Hidden {
                    x: self.tensor(0, &[self.seq_len, self.model_dim()], self.strength),
                    w_q: linear(0),
                    w_k: linear(1),
                    w_v: linear(2),
                }
            }
        }
    }

    fn projection(&self) -> Output {
        let d = self.model_dim();
        match self.output {
            Projection::None => Output::Identity,
            Projection::Full { bias } | Projection::Ranked { bias, .. } => {
                Output::Full(self.linear(20, bias))
            }
            Projection::Given { rank, bias } => Output::Factors {
                w_1: self.tensor(22, &[rank as usize, d], 1.0 / (d as f32).sqrt()),
                w_2: self.tensor(23, &[d, rank as usize], 1.0 / (rank as f32).sqrt()),
                bias: bias.then(|| self.tensor(21, &[d], 0.5)),
            },
        }
    }

    fn mask(&self) -> Option<Arc<[u8]>> {
        self.hidden.map(|share| {
            let mut numbers = Numbers::new(self.seed, 30);
            (0..self.seq_len * self.seq_len)
                .map(|_| u8::from(numbers.uniform() >= share))
                .collect()
        })
    }

    fn biases(&self) -> Biases {
        let position = |stream: u64, of: Option<Position>| {
            of.map(|p| {
                let rows = if p.each { self.seq_len } else { 1 };
                PositionBias {
                    unit: self.tensor(stream, &[self.heads, rows, self.head_dim], 1.0),
                    amplitude: p.amplitude,
                }
            })
        };
        Biases {
            p_k: position(40, self.p_k),
            p_v: position(41, self.p_v),
            s: self.s.map(|s| self.score_bias(s)),
        }
    }

    fn score_bias(&self, s: Auxiliary) -> ScoreBias {
        let (l, h) = (self.seq_len, self.heads);
        let numbers = |shape: &[usize], spread| {
            let mut s = self.tensor(42, shape, spread);
            s.data = s.data.iter().map(|s| s + self.s_common).collect();
            s
        };
        match s {
            Auxiliary::Curve(spread) => ScoreBias::Curve {
                table: numbers(&[2 * l - 1], spread).data,
                common: 0.0,
            },
            Auxiliary::Dense(spread) => ScoreBias::Dense(numbers(&[h, l, l], spread)),
        }
    }
}

/// `frame` with another layer in the place of its own.
pub fn relaid(frame: &Frame, edit: impl FnOnce(&mut Layer)) -> Frame {
    let mut layer = (*frame.layer).clone();
    edit(&mut layer);
    layer.id = fresh_id();
    Frame {
        layer: Arc::new(layer),
        ..frame.clone()
    }
}
