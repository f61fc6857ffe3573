//! The table of passes: what each result is computed from, and in which parts.
//!
//! Three things follow from it. [`Plan`] names the passes that a new Frame makes stale.
//! [`CacheState`](super::cache_state::CacheState) records which results are valid.
//! [`StepPlanner`](super::steps::StepPlanner) orders the missing ones. An engine adds how it computes a
//! pass: `engine-gpu` a shader, `engine-cpu` a function.

use std::sync::Arc;

use attnscope_attention::layer::{Output, PositionBias, ScoreBias, Tensor};

use super::{Frame, MapView, StripView};

/// One result of an engine, cached between Frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Pass {
    /// The tensors of the layer on the device.
    Layer,
    /// q̃ and k̃ of the score rank on the device.
    ScoreFactors,
    /// s on the device.
    ScoreBias,
    /// q `[L, d_h]` of one head.
    Query,
    /// k `[L, d_h]` of one head.
    Key,
    /// v `[L, d_h]` of one head.
    Value,
    /// k' = k + P_K of one head.
    KeyBias,
    /// v' = v + P_V of one head.
    ValueBias,
    /// Maximum and normaliser of every row of one head (SPEC 3).
    Stats,
    /// Texels of the large map.
    Map,
    /// Texels of the small map of one head.
    Strip,
    /// O = A V' `[L, d_h]` of one head.
    HeadOutput,
    /// T = O W_1ᵀ `[L, d]`.
    Components,
    /// Y `[L, d]`.
    LayerOutput,
    /// ‖T_c‖² and ‖Y‖².
    Energy,
    /// Sums of the first components of the low-rank Y; a changed rank continues from one of them.
    PartialSum,
    /// Y of the low-rank projection.
    LowRankOutput,
    /// Texels of Y.
    FullTexels,
    /// Texels of the low-rank Y.
    LowTexels,
    /// Colours of the large map on its target.
    DrawMap,
    /// Colours of the small maps on their target.
    DrawStrip,
    /// Colours of both outputs on their target.
    DrawOutput,
}

/// A part of a Frame. A pass that reads it becomes stale when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The layer.
    Layer,
    /// q̃ and k̃, if a score rank uses them.
    ScoreFactors,
    /// Rank of the score and its scale.
    Score,
    /// P_K.
    KeyBias,
    /// P_V.
    ValueBias,
    /// s.
    ScoreBias,
    /// Visibility, reading and segments: everything that turns scores into weights.
    Weights,
    /// What fully masked rows get.
    FullyMasked,
    /// W_1 and W_2 of the SVD of W_O.
    OutFactors,
    /// Rank of the output projection.
    OutRank,
    /// Cells and texels of the large map.
    MapCells,
    /// Colours of the large map.
    MapColors,
    /// Texels of the small maps.
    StripTexels,
    /// Colours and positions of the small maps.
    StripColors,
    /// Texels of the outputs.
    OutputTexels,
    /// Colours of the outputs.
    OutputColors,
}

/// How many results a pass has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One.
    Whole,
    /// One for each head.
    Head,
    /// One for each head; the statistics of as many heads are cached as memory allows.
    StatSlot,
    /// One for each partial sum.
    PartialSum,
}

/// How the rows of a pass are cut into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// It is not cut.
    One,
    /// By query row.
    Queries,
    /// By texel row of the large map.
    MapTexels,
    /// By texel row of a small map.
    StripTexels,
}

/// The cost of a row of a pass in multiply-adds; for [`Rows::One`] the cost of the whole pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Negligible.
    Free,
    /// One row of X times d_h columns of a weight.
    Projection,
    /// One number per row.
    Row,
    /// Scores and exponentials of the keys that a row sees.
    Scores,
    /// The same for each chunk of eight value columns, and once for the weights.
    WeightedValues,
    /// The cells of the texels of a row of the large map.
    MapTexels,
    /// The cells of the texels of a row of a small map.
    StripTexels,
    /// d products of d numbers.
    Linear,
    /// d products of as many numbers as a partial sum has components.
    PartialSum,
    /// d products of the components after the last partial sum.
    RestOfRank,
    /// One read of every number of a matrix `[L, d]`.
    Matrix,
}

/// Reads another pass if a condition on the Frame holds.
pub type Reads = (Pass, fn(&Frame) -> bool);

/// One row of the table.
#[derive(Clone, Copy)]
pub struct PassRow {
    /// The pass.
    pub pass: Pass,
    /// The parts of the Frame that it reads itself.
    pub choices: &'static [Choice],
    /// The passes that it reads, in scheduling order.
    pub reads: &'static [Reads],
    /// Whether a Frame needs it at all.
    pub runs: fn(&Frame) -> bool,
    /// Its units.
    pub unit: Unit,
    /// Its rows.
    pub rows: Rows,
    /// Its cost.
    pub cost: Cost,
}

fn always(_: &Frame) -> bool {
    true
}

/// With a score rank, q̃ and k̃ replace q and k'.
fn without_score_rank(frame: &Frame) -> bool {
    frame.config.score_rank.is_none()
}

fn with_score_bias(frame: &Frame) -> bool {
    frame.config.reading.uses_score_bias()
}

/// W_1 and W_2 come with the layer: Y is made from them.
fn with_given_factors(frame: &Frame) -> bool {
    matches!(frame.layer.output, Output::Factors { .. })
}

fn with_out_factors(frame: &Frame) -> bool {
    frame.projection_factors().is_some()
}

fn with_low_rank(frame: &Frame) -> bool {
    with_out_factors(frame) && frame.config.out_rank.is_some()
}

/// While the factors of the requested rank are missing, the low-rank map stays as it is.
fn with_low_texels(frame: &Frame) -> bool {
    with_out_factors(frame) || frame.config.out_rank.is_none()
}

const fn row(pass: Pass, unit: Unit, rows: Rows, cost: Cost) -> PassRow {
    PassRow {
        pass,
        choices: &[],
        reads: &[],
        runs: always,
        unit,
        rows,
        cost,
    }
}

impl Pass {
    /// How many there are.
    pub const COUNT: usize = TABLE.len();

    /// Every pass, in order of dependency.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.pass)
    }

    /// Its row of the table.
    pub fn row(self) -> &'static PassRow {
        &TABLE[self as usize]
    }
}

/// The table. A pass reads only passes above it.
pub static TABLE: [PassRow; 22] = [
    PassRow {
        choices: &[Choice::Layer],
        ..row(Pass::Layer, Unit::Whole, Rows::One, Cost::Free)
    },
    PassRow {
        choices: &[Choice::ScoreFactors],
        reads: &[(Pass::Layer, always)],
        ..row(Pass::ScoreFactors, Unit::Whole, Rows::One, Cost::Free)
    },
    PassRow {
        choices: &[Choice::ScoreBias],
        reads: &[(Pass::Layer, always)],
        ..row(Pass::ScoreBias, Unit::Whole, Rows::One, Cost::Free)
    },
    PassRow {
        reads: &[(Pass::Layer, always)],
        ..row(Pass::Query, Unit::Head, Rows::Queries, Cost::Projection)
    },
    PassRow {
        reads: &[(Pass::Layer, always)],
        ..row(Pass::Key, Unit::Head, Rows::Queries, Cost::Projection)
    },
    PassRow {
        reads: &[(Pass::Layer, always)],
        ..row(Pass::Value, Unit::Head, Rows::Queries, Cost::Projection)
    },
    PassRow {
        choices: &[Choice::KeyBias],
        reads: &[(Pass::Key, always)],
        runs: Frame::has_key_bias,
        ..row(Pass::KeyBias, Unit::Head, Rows::One, Cost::Row)
    },
    PassRow {
        choices: &[Choice::ValueBias],
        reads: &[(Pass::Value, always)],
        runs: Frame::has_value_bias,
        ..row(Pass::ValueBias, Unit::Head, Rows::One, Cost::Row)
    },
    PassRow {
        choices: &[Choice::Score, Choice::Weights],
        reads: &[
            (Pass::ScoreFactors, always),
            (Pass::ScoreBias, with_score_bias),
            (Pass::Query, without_score_rank),
            (Pass::Key, without_score_rank),
            (Pass::KeyBias, without_score_rank),
        ],
        ..row(Pass::Stats, Unit::StatSlot, Rows::Queries, Cost::Scores)
    },
    PassRow {
        choices: &[Choice::MapCells, Choice::FullyMasked],
        reads: &[(Pass::Stats, always)],
        ..row(Pass::Map, Unit::Whole, Rows::MapTexels, Cost::MapTexels)
    },
    PassRow {
        choices: &[Choice::StripTexels, Choice::FullyMasked],
        reads: &[(Pass::Stats, always)],
        ..row(
            Pass::Strip,
            Unit::Head,
            Rows::StripTexels,
            Cost::StripTexels,
        )
    },
    PassRow {
        choices: &[Choice::FullyMasked],
        reads: &[
            (Pass::Stats, always),
            (Pass::Value, always),
            (Pass::ValueBias, always),
        ],
        ..row(
            Pass::HeadOutput,
            Unit::Head,
            Rows::Queries,
            Cost::WeightedValues,
        )
    },
    PassRow {
        choices: &[Choice::OutFactors],
        reads: &[(Pass::HeadOutput, always)],
        runs: with_out_factors,
        ..row(Pass::Components, Unit::Whole, Rows::Queries, Cost::Linear)
    },
    PassRow {
        reads: &[
            (Pass::HeadOutput, always),
            (Pass::Components, with_given_factors),
        ],
        ..row(Pass::LayerOutput, Unit::Whole, Rows::Queries, Cost::Linear)
    },
    PassRow {
        reads: &[(Pass::LayerOutput, always), (Pass::Components, always)],
        ..row(Pass::Energy, Unit::Whole, Rows::One, Cost::Matrix)
    },
    PassRow {
        reads: &[(Pass::Components, always)],
        runs: with_low_rank,
        ..row(
            Pass::PartialSum,
            Unit::PartialSum,
            Rows::Queries,
            Cost::PartialSum,
        )
    },
    PassRow {
        choices: &[Choice::OutRank],
        reads: &[(Pass::Components, always), (Pass::PartialSum, always)],
        runs: with_low_rank,
        ..row(
            Pass::LowRankOutput,
            Unit::Whole,
            Rows::Queries,
            Cost::RestOfRank,
        )
    },
    PassRow {
        choices: &[Choice::OutputTexels],
        reads: &[(Pass::LayerOutput, always)],
        ..row(Pass::FullTexels, Unit::Whole, Rows::One, Cost::Matrix)
    },
    PassRow {
        choices: &[Choice::OutputTexels],
        reads: &[(Pass::LayerOutput, always), (Pass::LowRankOutput, always)],
        runs: with_low_texels,
        ..row(Pass::LowTexels, Unit::Whole, Rows::One, Cost::Matrix)
    },
    PassRow {
        choices: &[Choice::MapColors],
        reads: &[(Pass::Map, always)],
        ..row(Pass::DrawMap, Unit::Whole, Rows::One, Cost::Free)
    },
    PassRow {
        choices: &[Choice::StripColors],
        reads: &[(Pass::Strip, always)],
        ..row(Pass::DrawStrip, Unit::Whole, Rows::One, Cost::Free)
    },
    PassRow {
        choices: &[Choice::OutputColors],
        reads: &[
            (Pass::Energy, always),
            (Pass::FullTexels, always),
            (Pass::LowTexels, always),
        ],
        ..row(Pass::DrawOutput, Unit::Whole, Rows::One, Cost::Free)
    },
];

/// The stale passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan(u32);

impl Plan {
    /// What is stale when `new` follows `old`. Without an old Frame everything is.
    pub fn between(old: Option<&Frame>, new: &Frame) -> Self {
        let Some(old) = old.filter(|old| !Choice::Layer.differs(old, new)) else {
            return Self((1 << Pass::COUNT) - 1);
        };
        let mut plan = Self::default();
        for row in &TABLE {
            let chosen = row.choices.iter().any(|choice| choice.differs(old, new));
            // A result that one of the two Frames does not read may be stale without harm.
            let fed = row
                .reads
                .iter()
                .any(|&(pass, when)| plan.contains(pass) && (when(old) || when(new)));
            if chosen || fed {
                plan.0 |= 1 << row.pass as u32;
            }
        }
        plan
    }

    /// Whether `pass` is stale.
    pub fn contains(self, pass: Pass) -> bool {
        self.0 & (1 << pass as u32) != 0
    }

    /// Whether nothing is stale.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The stale passes in order.
    pub fn iter(self) -> impl Iterator<Item = Pass> {
        Pass::all().filter(move |&pass| self.contains(pass))
    }
}

impl Choice {
    /// Whether this part differs in `new`.
    fn differs(self, old: &Frame, new: &Frame) -> bool {
        let (a, b) = (&old.config, &new.config);
        let len = new.layer.seq_len;
        match self {
            Self::Layer => old.layer.id != new.layer.id,
            Self::ScoreFactors => used_score_factors(old) != used_score_factors(new),
            Self::Score => a.score_rank != b.score_rank || a.scale.to_bits() != b.scale.to_bits(),
            Self::KeyBias => bias_key(old.biases.p_k.as_ref()) != bias_key(new.biases.p_k.as_ref()),
            Self::ValueBias => {
                bias_key(old.biases.p_v.as_ref()) != bias_key(new.biases.p_v.as_ref())
            }
            Self::ScoreBias => !same_score_bias(old.biases.s.as_ref(), new.biases.s.as_ref()),
            Self::Weights => {
                a.visibility != b.visibility
                    || a.reading != b.reading
                    || a.segment_len(len) != b.segment_len(len)
            }
            // Statistics say which rows are fully masked, not what those rows get.
            Self::FullyMasked => a.empty != b.empty,
            Self::OutFactors => {
                let id = |frame: &Frame| frame.out_factors.as_ref().map(|f| f.id);
                id(old) != id(new)
            }
            Self::OutRank => a.out_rank != b.out_rank,
            Self::MapCells => view_differs(old.map.as_ref(), new.map.as_ref(), same_cells),
            Self::MapColors => view_differs(old.map.as_ref(), new.map.as_ref(), |a, b| {
                a.colors == b.colors
            }),
            Self::StripTexels => view_differs(old.strip.as_ref(), new.strip.as_ref(), same_tiles),
            Self::StripColors => view_differs(old.strip.as_ref(), new.strip.as_ref(), |a, b| {
                (a.columns, a.gap, a.colors) == (b.columns, b.gap, b.colors)
            }),
            Self::OutputTexels => view_differs(old.output.as_ref(), new.output.as_ref(), |a, b| {
                (a.texel_rows, a.texel_cols) == (b.texel_rows, b.texel_cols)
            }),
            Self::OutputColors => view_differs(old.output.as_ref(), new.output.as_ref(), |a, b| {
                a.colors == b.colors
            }),
        }
    }
}

/// Whether a view on screen has changed; a closed view has not.
fn view_differs<V>(old: Option<&V>, new: Option<&V>, same: impl Fn(&V, &V) -> bool) -> bool {
    match (old, new) {
        (_, None) => false,
        (Some(old), Some(new)) => !same(old, new),
        (None, Some(_)) => true,
    }
}

fn used_score_factors(frame: &Frame) -> Option<u64> {
    let factors = frame.score_factors.as_ref();
    frame.config.score_rank.and(factors).map(|f| f.id)
}

/// Identity of a tensor's numbers.
fn address(tensor: &Tensor) -> usize {
    Arc::as_ptr(&tensor.data).addr()
}

/// What P adds: nothing at amplitude 0.
fn bias_key(bias: Option<&PositionBias>) -> Option<(usize, u32)> {
    bias.filter(|b| b.amplitude != 0.0)
        .map(|b| (address(&b.unit), b.amplitude.to_bits()))
}

fn same_score_bias(a: Option<&ScoreBias>, b: Option<&ScoreBias>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(ScoreBias::Curve { table: a, .. }), Some(ScoreBias::Curve { table: b, .. })) => {
            Arc::ptr_eq(a, b) || a == b
        }
        (Some(ScoreBias::Dense(a)), Some(ScoreBias::Dense(b))) => Arc::ptr_eq(&a.data, &b.data),
        _ => false,
    }
}

/// Whether both show the same cells, whatever their colours.
fn same_cells(a: &MapView, b: &MapView) -> bool {
    let colors = b.colors;
    MapView {
        colors,
        ..a.clone()
    } == *b
}

fn same_tiles(a: &StripView, b: &StripView) -> bool {
    (a.quantity, a.texels) == (b.quantity, b.texels)
}

#[cfg(test)]
#[path = "passes_tests.rs"]
mod tests;
