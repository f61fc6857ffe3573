//! What a layer costs, counted (SPEC 6): multiplications and additions, parameters, stored numbers.
//! These are counts, not measurements; 1 FLOP = one multiplication or one addition.

use serde::{Deserialize, Serialize};

/// What the costs are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostSizes {
    /// L.
    pub seq_len: u64,
    /// d.
    pub model_dim: u64,
    /// H.
    pub heads: u64,
    /// Visible (query, key) pairs of one head, as `Visibility::pairs` counts them; L² when full.
    pub pairs: u64,
    /// r; `None` = full W_O.
    pub out_rank: Option<u64>,
    /// ρ; `None` = full score.
    pub score_rank: Option<u64>,
}

impl CostSizes {
    /// Full attention.
    pub fn full(seq_len: u64, model_dim: u64, heads: u64) -> Self {
        Self {
            seq_len,
            model_dim,
            heads,
            pairs: seq_len * seq_len,
            out_rank: None,
            score_rank: None,
        }
    }

    /// d_h.
    pub fn head_dim(&self) -> u64 {
        self.model_dim / self.heads.max(1)
    }
}

/// Whether there is a position bias, and its shape; P_K and P_V have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PositionCost {
    /// None.
    #[default]
    None,
    /// `[H, 1, d_h]` each.
    Shared,
    /// `[H, L, d_h]` each.
    PerPosition,
}

/// Floating-point operations of one forward pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flops {
    /// Projections of q, k, v: 6·L·d².
    pub projections: f64,
    /// Scores: 2·H·pairs·(ρ or d_h).
    pub scores: f64,
    /// A·V: 2·H·pairs·d_h.
    pub values: f64,
    /// Output projection: 2·L·d², or 4·L·d·r.
    pub output: f64,
}

impl Flops {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.projections + self.scores + self.values + self.output
    }
}

/// Counts the operations for `sizes`. The factors of the score rank count as given, like weights:
/// computing them (QR and a small SVD) is not part of a forward pass.
pub fn flops(sizes: &CostSizes) -> Flops {
    let CostSizes {
        seq_len,
        model_dim,
        heads,
        pairs,
        out_rank,
        score_rank,
    } = *sizes;
    let (l, d) = (seq_len as f64, model_dim as f64);
    let cells = heads as f64 * pairs as f64;
    let head_dim = sizes.head_dim() as f64;
    Flops {
        projections: 6.0 * l * d * d,
        scores: 2.0 * cells * score_rank.map_or(head_dim, |rank| (rank as f64).min(head_dim)),
        values: 2.0 * cells * head_dim,
        output: 2.0 * l * output_parameters(model_dim, out_rank) as f64,
    }
}

/// Parameters of the output projection without its bias: d², or 2·d·r.
pub fn output_parameters(model_dim: u64, out_rank: Option<u64>) -> u64 {
    out_rank.map_or(model_dim * model_dim, |rank| 2 * model_dim * rank)
}

/// Parameters of the layer without the biases of its projections: 3·d² for q, k, v, the output
/// projection, P_K and P_V, and, with `dense_s`, one s `[L, L]` shared by the heads (as SPEC 6
/// counts; one per head would be H times as large).
pub fn parameters(sizes: &CostSizes, position: PositionCost, dense_s: bool) -> u64 {
    let CostSizes {
        seq_len: l,
        model_dim: d,
        out_rank,
        ..
    } = *sizes;
    let positions = match position {
        PositionCost::None => 0,
        PositionCost::Shared => 2 * d,
        PositionCost::PerPosition => 2 * l * d,
    };
    3 * d * d + output_parameters(d, out_rank) + positions + if dense_s { l * l } else { 0 }
}

/// Numbers stored during a forward pass that stores score and A: q, k, v and O `[L, d]`, and two
/// `[H, L, L]`. The mask does not change this: a masked map takes as much space as a full one.
pub fn materialised(sizes: &CostSizes) -> u64 {
    4 * sizes.seq_len * sizes.model_dim + 2 * sizes.heads * sizes.seq_len * sizes.seq_len
}

/// Numbers stored when A is never stored, as here: q, k, v, O, and one log-sum per row and head.
pub fn streamed(sizes: &CostSizes) -> u64 {
    4 * sizes.seq_len * sizes.model_dim + sizes.heads * sizes.seq_len
}

/// What the CJAR text claims (SPEC 6), at L = 512 and d = 768; shown beside the counts.
pub mod claimed {
    /// L of the claims.
    pub const SEQ_LEN: u64 = 512;
    /// d of the claims.
    pub const MODEL_DIM: u64 = 768;
    /// Change of memory.
    pub const MEMORY: f64 = -0.38;
    /// Change of training speed.
    pub const SPEED: f64 = 0.22;
}

#[cfg(test)]
// Counts are integers in floating point, so exact equality is right.
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    /// SPEC 6: H = 12, L = 512, d = 768.
    const SPEC: CostSizes = CostSizes {
        seq_len: claimed::SEQ_LEN,
        model_dim: claimed::MODEL_DIM,
        heads: 12,
        pairs: 512 * 512,
        out_rank: None,
        score_rank: None,
    };
    const RANK_64: CostSizes = CostSizes {
        out_rank: Some(64),
        ..SPEC
    };

    /// `got` reads as `want` when written with that many digits after the point.
    #[track_caller]
    fn reads(got: f64, digits: usize, want: &str) {
        assert_eq!(format!("{got:.digits$}"), want);
    }

    #[test]
    fn operations_of_spec_6() {
        let full = flops(&SPEC);
        reads(full.projections / 1e9, 3, "1.812");
        reads((full.scores + full.values) / 1e9, 3, "0.805");
        reads(full.output / 1e9, 3, "0.604");
        reads(full.total() / 1e9, 2, "3.22");
        let low = flops(&RANK_64);
        reads((full.total() - low.total()) / 1e9, 3, "0.503");
        reads(full.total() / low.total(), 3, "1.185");
        reads(full.total() / (full.total() - full.output), 3, "1.231");
        // A low-rank W_O changes neither the L² of the score nor its memory …
        assert_eq!((low.scores, low.values), (full.scores, full.values));
        assert_eq!(materialised(&RANK_64), materialised(&SPEC));
        // … while the score rank changes L²·d_h to L²·ρ.
        let score = flops(&CostSizes {
            score_rank: Some(16),
            ..SPEC
        });
        reads(score.scores / full.scores, 4, "0.2500");
    }

    #[test]
    fn parameters_of_spec_6() {
        let count = |sizes, position, s| parameters(sizes, position, s) as f64;
        let full = count(&SPEC, PositionCost::None, false);
        reads(full / 1e6, 2, "2.36");
        let shared = count(&RANK_64, PositionCost::Shared, false);
        reads(shared / 1e6, 2, "1.87");
        reads((shared / full - 1.0) * 100.0, 0, "-21");
        let dense = count(&RANK_64, PositionCost::PerPosition, true);
        reads(dense / 1e6, 2, "2.92");
        reads((dense / full - 1.0) * 100.0, 0, "24");
    }

    #[test]
    fn kept_numbers_of_spec_6() {
        let (kept, streamed) = (materialised(&SPEC) as f64, streamed(&SPEC) as f64);
        reads(kept / 1e6, 2, "7.86");
        reads(streamed / 1e6, 2, "1.58");
        reads((streamed / kept - 1.0) * 100.0, 0, "-80");
    }

    #[test]
    fn a_window_pays_for_its_pairs_only() {
        let window = flops(&CostSizes {
            pairs: 512 * 17,
            ..SPEC
        });
        let full = flops(&SPEC);
        reads(full.scores / window.scores, 4, "30.1176");
        assert_eq!(window.projections, full.projections);
    }
}
