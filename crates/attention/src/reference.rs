//! The f64 reference that judges every engine and computes the page's worked numbers: SPEC 1–3 for
//! one head, row by row, as the SPEC writes it. Simple rather than fast; it cannot judge the
//! rounding of f32 itself.

use std::fmt;
use std::sync::Arc;

use super::config::Config;
use super::layer::{Biases, Layer, PositionBias, ScoreBias};
use super::low_rank::{LowRankError, factor_score};
use super::project::{Projected, add_bias, doubles, position_bias, project};

mod rows;

pub use rows::{Cell, Map, Row};

/// Why the reference cannot compute something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceError {
    /// The layer has no such head.
    NoHead(usize),
    /// The layer is a preview without values.
    NoValues,
    /// The low-rank factors could not be computed.
    LowRank(LowRankError),
    /// The score rank is set, and no factors were given.
    NoFactors,
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHead(head) => write!(f, "there is no head {head}"),
            Self::NoValues => f.write_str("the values of this layer are not there yet"),
            Self::LowRank(why) => why.fmt(f),
            Self::NoFactors => f.write_str("the low-rank factors of this head are not there yet"),
        }
    }
}

impl std::error::Error for ReferenceError {}

impl From<LowRankError> for ReferenceError {
    fn from(why: LowRankError) -> Self {
        Self::LowRank(why)
    }
}

/// q̃ and k̃ of one head in f64 (SPEC 1, score rank): the first ρ columns give rank ρ.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadFactors {
    /// q̃ `[L, n]`, row-major.
    pub q: Vec<f64>,
    /// k̃ `[L, n]`, row-major.
    pub k: Vec<f64>,
    /// n = min(L, d_h).
    pub width: usize,
}

impl HeadFactors {
    /// Factors q k'ᵀ of head `head`, k' = k + P_K.
    ///
    /// # Errors
    /// When the factors cannot be computed.
    pub fn new(
        projected: &Projected,
        p_k: Option<&PositionBias>,
        head: usize,
        head_dim: usize,
    ) -> Result<Self, LowRankError> {
        let p_k = position_bias(p_k, head);
        let k = add_bias(projected.k.clone(), p_k.as_deref());
        Self::of(&projected.q, &k, head_dim)
    }

    fn of(q: &[f64], k: &[f64], head_dim: usize) -> Result<Self, LowRankError> {
        let factors = factor_score(q, k, head_dim)?;
        Ok(Self {
            width: factors.sigma.len(),
            // Column-major [n, L] is row-major [L, n].
            q: factors.left.transpose().iter().copied().collect(),
            k: factors.right.iter().copied().collect(),
        })
    }
}

/// s of one head.
#[derive(Clone, Debug)]
enum Auxiliary {
    None,
    /// By offset, entry `j − i + L − 1`, and what was subtracted from all entries.
    Curve(Arc<[f32]>, f64),
    /// `[L, L]`.
    Dense(Vec<f64>),
}

/// One head, ready to compute rows and cells.
#[derive(Clone, Debug)]
pub struct Head {
    /// L.
    pub seq_len: usize,
    /// d_h.
    pub head_dim: usize,
    config: Config,
    mask: Option<Arc<[u8]>>,
    /// `[L, head_dim]`.
    q: Vec<f64>,
    /// k without P_K, `[L, head_dim]`.
    k: Vec<f64>,
    /// P_K `[1 or L, head_dim]`.
    p_k: Option<Vec<f64>>,
    /// The two sides of the score: q and k', or q̃ and k̃ at the score rank; `[L, width]` each.
    score_q: Vec<f64>,
    score_k: Vec<f64>,
    width: usize,
    /// v' `[L, head_dim]`.
    v: Option<Vec<f64>>,
    s: Auxiliary,
}

impl Head {
    /// Head `head` of `layer` with `config` and `biases`, which both fit it ([`Layer::check`],
    /// [`Biases::check`]). In a preview the only head is head 0.
    ///
    /// # Errors
    /// When there is no such head, or the score rank is set and the factors cannot be computed.
    pub fn new(
        layer: &Layer,
        config: &Config,
        biases: &Biases,
        head: usize,
    ) -> Result<Self, ReferenceError> {
        if head >= layer.heads {
            return Err(ReferenceError::NoHead(head));
        }
        Self::from_projected(layer, &project(layer, head), config, biases, head)
    }

    /// As [`Head::new`], from the q, k, v of that head: the projection does not depend on `config`
    /// and `biases`, so code that follows a slider computes it once.
    ///
    /// # Errors
    /// As [`Head::new`].
    pub fn from_projected(
        layer: &Layer,
        projected: &Projected,
        config: &Config,
        biases: &Biases,
        head: usize,
    ) -> Result<Self, ReferenceError> {
        let mut made = Self::without_score(layer, projected, config, biases, head)?;
        made.make_score()?;
        Ok(made)
    }

    /// As [`Head::from_projected`], with the factors of q k'ᵀ given: this function factors nothing,
    /// so code that calls only this one does not link the SVD.
    ///
    /// # Errors
    /// When there is no such head, or the score rank is set and `factors` is `None`.
    pub fn from_factors(
        layer: &Layer,
        projected: &Projected,
        factors: Option<&HeadFactors>,
        config: &Config,
        biases: &Biases,
        head: usize,
    ) -> Result<Self, ReferenceError> {
        let mut made = Self::without_score(layer, projected, config, biases, head)?;
        match config.score_rank {
            Some(rank) => made.truncate(factors.ok_or(ReferenceError::NoFactors)?, rank),
            None => made.use_full_score(),
        }
        Ok(made)
    }

    fn without_score(
        layer: &Layer,
        projected: &Projected,
        config: &Config,
        biases: &Biases,
        head: usize,
    ) -> Result<Self, ReferenceError> {
        if head >= layer.heads {
            return Err(ReferenceError::NoHead(head));
        }
        let p_k = position_bias(biases.p_k.as_ref(), head);
        let p_v = position_bias(biases.p_v.as_ref(), head);
        let s = match &biases.s {
            Some(ScoreBias::Curve { table, common }) if config.reading.uses_score_bias() => {
                Auxiliary::Curve(table.clone(), *common)
            }
            Some(ScoreBias::Dense(s)) if config.reading.uses_score_bias() => {
                Auxiliary::Dense(doubles(s.outer(head)))
            }
            _ => Auxiliary::None,
        };
        let v = projected.v.clone().map(|v| add_bias(v, p_v.as_deref()));
        Ok(Self {
            seq_len: layer.seq_len,
            head_dim: layer.head_dim,
            config: config.clone(),
            mask: layer.mask.clone(),
            q: projected.q.clone(),
            k: projected.k.clone(),
            p_k,
            score_q: Vec::new(),
            score_k: Vec::new(),
            width: 0,
            v,
            s,
        })
    }

    /// Computes both sides of the score from q, k, P_K and the score rank.
    fn make_score(&mut self) -> Result<(), ReferenceError> {
        self.use_full_score();
        if let Some(rank) = self.config.score_rank {
            let factors = HeadFactors::of(&self.score_q, &self.score_k, self.head_dim)?;
            self.truncate(&factors, rank);
        }
        Ok(())
    }

    fn use_full_score(&mut self) {
        self.score_q.clone_from(&self.q);
        self.score_k = add_bias(self.k.clone(), self.p_k.as_deref());
        self.width = self.head_dim;
    }

    fn truncate(&mut self, factors: &HeadFactors, rank: u32) {
        self.width = (rank as usize).min(factors.width);
        let first = |numbers: &[f64]| {
            let rows = numbers.chunks_exact(factors.width.max(1));
            rows.flat_map(|row| &row[..self.width]).copied().collect()
        };
        (self.score_q, self.score_k) = (first(&factors.q), first(&factors.k));
    }

    /// The same head without P_K and s; `None` when it has neither (or its reading ignores s).
    ///
    /// # Errors
    /// When the score rank is set and the factors cannot be computed.
    pub fn without_biases(&self) -> Result<Option<Self>, ReferenceError> {
        if self.p_k.is_none() && matches!(self.s, Auxiliary::None) {
            return Ok(None);
        }
        let mut plain = self.clone();
        (plain.p_k, plain.s) = (None, Auxiliary::None);
        plain.make_score()?;
        Ok(Some(plain))
    }

    /// The choices that this head is computed with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The boolean mask of the layer.
    pub fn mask(&self) -> Option<&[u8]> {
        self.mask.as_deref()
    }
}
