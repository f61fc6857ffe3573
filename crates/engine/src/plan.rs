//! Which results of the last Frame are stale for the next one. Pure; the engine drops what the
//! plan names and computes the rest of what is on screen from it.

use std::sync::Arc;

use attnscope_attention::layer::{PositionBias, ScoreBias, Tensor};

use super::{Frame, MapView, StripView};

/// A result that an engine keeps between frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Pass {
    /// Everything of the layer: tensors, and q, k, v.
    Layer,
    /// q̃ and k̃ of the score rank.
    Factors,
    /// k' = k + P_K.
    KeyBias,
    /// v' = v + P_V.
    ValueBias,
    /// s on the device.
    ScoreBias,
    /// Row statistics.
    Stats,
    /// Texels of the large map.
    Map,
    /// Texels of the small maps.
    Strip,
    /// O = A V'.
    Output,
    /// T = O W_1ᵀ and its energies.
    Components,
    /// Y of the low-rank projection.
    LowRank,
    /// Texels of Y.
    FullTexels,
    /// Texels of its low-rank twin.
    LowTexels,
    /// Colours of the large map.
    DrawMap,
    /// Colours of the small maps.
    DrawStrip,
    /// Colours of the output maps.
    DrawOutput,
}

impl Pass {
    /// Every pass, in the order in which results depend on each other.
    pub const ALL: [Self; 16] = [
        Self::Layer,
        Self::Factors,
        Self::KeyBias,
        Self::ValueBias,
        Self::ScoreBias,
        Self::Stats,
        Self::Map,
        Self::Strip,
        Self::Output,
        Self::Components,
        Self::LowRank,
        Self::FullTexels,
        Self::LowTexels,
        Self::DrawMap,
        Self::DrawStrip,
        Self::DrawOutput,
    ];

    /// Results that are made from this one.
    fn feeds(self) -> &'static [Self] {
        match self {
            Self::Layer => &[
                Self::Factors,
                Self::KeyBias,
                Self::ValueBias,
                Self::ScoreBias,
                Self::Stats,
                Self::Map,
                Self::Strip,
                Self::Output,
            ],
            Self::ValueBias => &[Self::Output],
            Self::Factors | Self::KeyBias | Self::ScoreBias => &[Self::Stats],
            Self::Stats => &[Self::Map, Self::Strip, Self::Output],
            Self::Map => &[Self::DrawMap],
            Self::Strip => &[Self::DrawStrip],
            Self::Output => &[Self::Components, Self::FullTexels, Self::LowTexels],
            Self::Components => &[Self::LowRank],
            Self::LowRank => &[Self::LowTexels],
            Self::FullTexels | Self::LowTexels => &[Self::DrawOutput],
            Self::DrawMap | Self::DrawStrip | Self::DrawOutput => &[],
        }
    }
}

/// The stale passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan(u32);

impl Plan {
    /// What is stale when `new` follows `old`. Without an old Frame everything is.
    pub fn between(old: Option<&Frame>, new: &Frame) -> Self {
        let mut plan = Self::default();
        let Some(old) = old.filter(|old| old.layer.id == new.layer.id) else {
            plan.mark(Pass::Layer);
            return plan;
        };
        plan.mark_score(old, new);
        plan.mark_weights(old, new);
        if bias_key(new.biases.p_v.as_ref()) != bias_key(old.biases.p_v.as_ref()) {
            plan.mark(Pass::ValueBias);
        }
        if out_id(old) != out_id(new) {
            plan.mark(Pass::Components);
        }
        if old.config.out_rank != new.config.out_rank {
            plan.mark(Pass::LowRank);
        }
        plan.mark_views(old, new);
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
        Pass::ALL.into_iter().filter(move |&p| self.contains(p))
    }

    fn mark(&mut self, pass: Pass) {
        if !self.contains(pass) {
            self.0 |= 1 << pass as u32;
            for &fed in pass.feeds() {
                self.mark(fed);
            }
        }
    }

    /// What r is made of: factors or k', width and scale.
    fn mark_score(&mut self, old: &Frame, new: &Frame) {
        let factors = |f: &Frame| {
            f.config
                .score_rank
                .and(f.score_factors.as_ref())
                .map(|s| s.id)
        };
        let ranked = |f: &Frame| f.config.score_rank.is_some();
        let mut moved = old.config.score_rank != new.config.score_rank
            || old.config.scale.to_bits() != new.config.scale.to_bits();
        if factors(old) != factors(new) {
            self.mark(Pass::Factors);
            moved = true;
        }
        if bias_key(old.biases.p_k.as_ref()) != bias_key(new.biases.p_k.as_ref()) {
            // With a score rank k' acts only through the factors, but must be there when the
            // rank is switched off.
            if ranked(new) && ranked(old) {
                self.0 |= 1 << Pass::KeyBias as u32;
            } else {
                self.mark(Pass::KeyBias);
                moved = true;
            }
        }
        if moved {
            self.mark(Pass::Map);
            self.mark(Pass::Strip);
            self.mark(Pass::Output);
            // The product reading normalises s alone, but statistics hold what scores share, too.
            self.mark(Pass::Stats);
        }
    }

    /// What turns r into weights: visibility, segments, reading, s.
    fn mark_weights(&mut self, old: &Frame, new: &Frame) {
        let (a, b) = (&old.config, &new.config);
        let len = new.layer.seq_len;
        if a.empty != b.empty {
            // Statistics say which rows see no key, not what those get.
            for pass in [Pass::Map, Pass::Strip, Pass::Output] {
                self.mark(pass);
            }
        }
        if a.visibility != b.visibility
            || a.reading != b.reading
            || a.segment_len(len) != b.segment_len(len)
        {
            self.mark(Pass::Stats);
        }
        if !same_score_bias(old.biases.s.as_ref(), new.biases.s.as_ref()) {
            if b.reading.uses_score_bias() {
                self.mark(Pass::ScoreBias);
            } else {
                self.0 |= 1 << Pass::ScoreBias as u32;
            }
        }
    }

    fn mark_views(&mut self, old: &Frame, new: &Frame) {
        if let Some(map) = &new.map {
            match &old.map {
                Some(before) if same_cells(before, map) => {
                    if before.colors != map.colors {
                        self.mark(Pass::DrawMap);
                    }
                }
                _ => self.mark(Pass::Map),
            }
        }
        if let Some(strip) = &new.strip {
            match &old.strip {
                Some(before) if same_tiles(before, strip) => {
                    if before != strip {
                        self.mark(Pass::DrawStrip);
                    }
                }
                _ => self.mark(Pass::Strip),
            }
        }
        if let Some(output) = &new.output {
            match &old.output {
                Some(before)
                    if (before.texel_rows, before.texel_cols)
                        == (output.texel_rows, output.texel_cols) =>
                {
                    if before.colors != output.colors {
                        self.mark(Pass::DrawOutput);
                    }
                }
                _ => {
                    self.mark(Pass::FullTexels);
                    self.mark(Pass::LowTexels);
                }
            }
        }
    }
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

fn out_id(frame: &Frame) -> Option<u64> {
    frame.out_factors.as_ref().map(|f| f.id)
}

/// Whether both show the same cells; colours aside.
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
#[path = "plan_tests.rs"]
mod tests;
