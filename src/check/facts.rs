//! The facts of SPEC 5 as measurements on the reader's own device: the WGSL engine computes each of
//! them now, and it holds or does not.

use std::sync::Arc;

use attnscope_attention::bias::{one_hot, sinusoidal};
use attnscope_attention::config::{Config, Reading};
use attnscope_attention::layer::{
    Biases, Layer, Linear, Output, PositionBias, ScoreBias, Tensor, fresh_id,
};
use attnscope_attention::low_rank::{out_factors, score_factors};
use attnscope_data::synthetic::synthetic;
use attnscope_engine::{EngineError, Frame, OutputMatrix};
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::{Pattern, Quantity};

use crate::check::finding::Finding;
use crate::check::judge::{head_outputs, maps, matrix};

/// One fact; its number selects its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// w ≥ L − 1 in *distance* is full attention, bit by bit.
    WindowOverAll,
    /// A shared P_K moves no weight of a softmax.
    SharedKeyBias,
    /// A P_K per position moves weights.
    PositionKeyBias,
    /// In the product reading even a shared P_K moves weights.
    SharedKeyBiasProduct,
    /// A shared P_V adds exactly P_V to every head output.
    SharedValueBias,
    /// A constant added to a row of s changes nothing.
    ShiftOfScoreBias,
    /// Softmax rows sum to 1.
    RowSums,
    /// Rows of the product reading do not sum to 1.
    ProductRowSums,
    /// With segments, each non-empty one sums to 1/G.
    SegmentSums,
    /// Output rank d is the full projection.
    OutputRank,
    /// Score rank d_h is the full score.
    ScoreRank,
    /// A fully masked row has A = 0 and O = 0.
    EmptyRow,
    /// Computing twice gives the same bits.
    SameBits,
}

impl Fact {
    /// All facts, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::WindowOverAll,
        Self::SharedKeyBias,
        Self::PositionKeyBias,
        Self::SharedKeyBiasProduct,
        Self::SharedValueBias,
        Self::ShiftOfScoreBias,
        Self::RowSums,
        Self::ProductRowSums,
        Self::SegmentSums,
        Self::OutputRank,
        Self::ScoreRank,
        Self::EmptyRow,
        Self::SameBits,
    ];
}

/// A layer and its results on one device.
pub struct Bench<'e> {
    engine: &'e mut GpuEngine,
    layer: Arc<Layer>,
}

impl<'e> Bench<'e> {
    /// A synthetic layer of 24 tokens whose W_O has full rank.
    pub fn new(engine: &'e mut GpuEngine) -> Self {
        let mut layer = synthetic(Pattern::Local, 24, 7, fresh_id()).layer;
        let d = layer.model_dim();
        // Diagonal plus a pattern: every rank counts.
        let weight = (0..d * d).map(|at| {
            let (row, col) = (at / d, at % d);
            let noise = ((at * 7919) % 2003) as f32 / 1001.0 - 1.0;
            0.05 * noise + if row == col { 1.0 } else { 0.0 }
        });
        layer.output = Output::Full(Linear {
            weight: Tensor {
                shape: vec![d, d],
                data: weight.collect(),
            },
            bias: None,
        });
        Self {
            engine,
            layer: Arc::new(layer),
        }
    }

    /// Measures one fact.
    ///
    /// # Errors
    /// An error of the engine.
    pub async fn measure(&mut self, fact: Fact) -> Result<Finding, EngineError> {
        let full = self.config(Reading::Softmax);
        match fact {
            Fact::WindowOverAll => {
                let whole = self.weights(&full, Biases::default()).await?;
                let mut wide = full.clone();
                let reach = self.layer.seq_len as i32 - 1;
                wide.visibility.left = Some(reach);
                wide.visibility.right = Some(reach);
                let windowed = self.weights(&wide, Biases::default()).await?;
                Ok(Finding::same_bits(&windowed, &whole))
            }
            Fact::SharedKeyBias => {
                let plain = self.weights(&full, Biases::default()).await?;
                let biased = self.weights(&full, self.p_k(false)).await?;
                Ok(Finding::equal(&biased, &plain))
            }
            Fact::PositionKeyBias => {
                let plain = self.weights(&full, Biases::default()).await?;
                let biased = self.weights(&full, self.p_k(true)).await?;
                Ok(Finding::differs(&biased, &plain))
            }
            Fact::SharedKeyBiasProduct => {
                let product = self.config(Reading::Product);
                let plain = self.weights(&product, Biases::default()).await?;
                let biased = self.weights(&product, self.p_k(false)).await?;
                Ok(Finding::differs(&biased, &plain))
            }
            Fact::SharedValueBias => self.shared_value_bias().await,
            Fact::ShiftOfScoreBias => self.shift().await,
            Fact::RowSums => self.row_sums(None).await,
            Fact::SegmentSums => self.row_sums(Some(5)).await,
            Fact::ProductRowSums => {
                let config = self.config(Reading::Product);
                let a = self.weights(&config, Biases::default()).await?;
                let sums = sums(&a, self.layer.seq_len);
                Ok(Finding::differs(&sums, &vec![1.0; sums.len()]))
            }
            Fact::OutputRank => self.output_rank().await,
            Fact::ScoreRank => self.score_rank().await,
            Fact::EmptyRow => self.empty_row().await,
            Fact::SameBits => {
                let config = self.config(Reading::Bias);
                let first = self.weights(&config, self.s(0.0)).await?;
                // A different Frame in between, so that no result of the first one is left.
                let _ = self.weights(&full, self.p_k(true)).await?;
                let again = self.weights(&config, self.s(0.0)).await?;
                Ok(Finding::same_bits(&again, &first))
            }
        }
    }

    async fn shared_value_bias(&mut self) -> Result<Finding, EngineError> {
        let full = self.config(Reading::Softmax);
        let (heads, dim) = (self.layer.heads, self.layer.head_dim);
        let p_v = sinusoidal(heads, 1, dim);
        let frame = self.frame(&full, Biases::default());
        let plain = head_outputs(self.engine, &frame).await?;
        let biases = Biases {
            p_v: Some(PositionBias {
                unit: p_v.clone(),
                amplitude: 1.0,
            }),
            ..Biases::default()
        };
        let frame = self.frame(&full, biases);
        let biased = head_outputs(self.engine, &frame).await?;
        let rows = self.layer.seq_len * dim;
        let want: Vec<f32> = plain
            .iter()
            .enumerate()
            .map(|(at, o)| o + p_v.data[at / rows * dim + at % dim])
            .collect();
        Ok(Finding::equal(&biased, &want))
    }

    /// Two tables of s that differ by a constant per row, in both readings that use s.
    async fn shift(&mut self) -> Result<Finding, EngineError> {
        let (mut all, mut shifted) = (Vec::new(), Vec::new());
        for reading in [Reading::Bias, Reading::Product] {
            let config = self.config(reading);
            all.extend(self.weights(&config, self.s(0.0)).await?);
            shifted.extend(self.weights(&config, self.s(3.0)).await?);
        }
        Ok(Finding::equal(&shifted, &all))
    }

    /// Sums of rows, or of the segments of rows, against 1/G.
    async fn row_sums(&mut self, segment: Option<u32>) -> Result<Finding, EngineError> {
        let config = Config {
            segment,
            ..self.config(Reading::Bias)
        };
        let len = self.layer.seq_len;
        let width = segment.map_or(len, |segment| segment as usize);
        let a = self.weights(&config, self.s(0.0)).await?;
        let found: Vec<f32> = a.chunks(len).flat_map(|row| sums(row, width)).collect();
        let want = vec![1.0 / len.div_ceil(width) as f32; found.len()];
        Ok(Finding::equal(&found, &want))
    }

    async fn output_rank(&mut self) -> Result<Finding, EngineError> {
        let mut frame = self.frame(&self.config(Reading::Softmax), Biases::default());
        let Output::Full(linear) = &self.layer.output else {
            return Err(EngineError::Invalid("the layer has no W_O".into()));
        };
        let factors =
            out_factors(&linear.weight).map_err(|why| EngineError::Invalid(why.to_string()))?;
        frame.out_factors = Some(Arc::new(factors));
        frame.config.out_rank = Some(self.layer.model_dim() as u32);
        let full = matrix(self.engine, &frame, OutputMatrix::Full).await?;
        let ranked = matrix(self.engine, &frame, OutputMatrix::LowRank).await?;
        Ok(Finding::equal(&ranked, &full))
    }

    async fn score_rank(&mut self) -> Result<Finding, EngineError> {
        let mut frame = self.frame(&self.config(Reading::Softmax), Biases::default());
        let full = maps(self.engine, &frame, Quantity::Score).await?;
        let factors = score_factors(&self.layer, &Biases::default())
            .map_err(|why| EngineError::Invalid(why.to_string()))?;
        frame.score_factors = Some(Arc::new(factors));
        frame.config.score_rank = Some(self.layer.head_dim.min(self.layer.seq_len) as u32);
        let ranked = maps(self.engine, &frame, Quantity::Score).await?;
        Ok(Finding::equal(&ranked, &full))
    }

    /// A strictly causal mask: the first token sees nothing.
    async fn empty_row(&mut self) -> Result<Finding, EngineError> {
        let mut config = self.config(Reading::Softmax);
        config.visibility.right = Some(-1);
        let frame = self.frame(&config, Biases::default());
        let (len, dim) = (self.layer.seq_len, self.layer.head_dim);
        let a = maps(self.engine, &frame, Quantity::Weights).await?;
        let o = head_outputs(self.engine, &frame).await?;
        let first: Vec<f32> = a
            .chunks(len * len)
            .flat_map(|map| &map[..len])
            .chain(o.chunks(len * dim).flat_map(|rows| &rows[..dim]))
            .copied()
            .collect();
        let zeros = vec![0.0f32; first.len()];
        Ok(Finding::same_bits(&first, &zeros))
    }

    async fn weights(&mut self, config: &Config, biases: Biases) -> Result<Vec<f32>, EngineError> {
        let frame = self.frame(config, biases);
        maps(self.engine, &frame, Quantity::Weights).await
    }

    fn config(&self, reading: Reading) -> Config {
        Config {
            reading,
            ..Config::full(self.layer.head_dim)
        }
    }

    fn frame(&self, config: &Config, biases: Biases) -> Frame {
        Frame {
            layer: self.layer.clone(),
            config: config.clone(),
            biases,
            score_factors: None,
            out_factors: None,
            map: None,
            strip: None,
            output: None,
        }
    }

    fn p_k(&self, per_position: bool) -> Biases {
        let (heads, dim) = (self.layer.heads, self.layer.head_dim);
        let rows = if per_position { self.layer.seq_len } else { 1 };
        let unit = if per_position {
            sinusoidal(heads, rows, dim)
        } else {
            one_hot(heads, rows, dim, 3)
        };
        Biases {
            p_k: Some(PositionBias {
                unit,
                amplitude: 2.0,
            }),
            ..Biases::default()
        }
    }

    /// A dense s; `shift` times the row's number is added to each row.
    fn s(&self, shift: f32) -> Biases {
        let (heads, len) = (self.layer.heads, self.layer.seq_len);
        let data = (0..heads * len * len).map(|at| {
            let row = at / len % len;
            ((at * 7919) % 2003) as f32 / 1001.0 - 1.0 + shift * row as f32
        });
        Biases {
            s: Some(ScoreBias::Dense(Tensor {
                shape: vec![heads, len, len],
                data: data.collect(),
            })),
            ..Biases::default()
        }
    }
}

/// Sums of every `width` neighbours.
fn sums(numbers: &[f32], width: usize) -> Vec<f32> {
    numbers
        .chunks(width)
        .map(|part| part.iter().sum())
        .collect()
}
