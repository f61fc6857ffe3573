//! Every buffer that a Frame needs on a device, by name and size. It is known before anything is
//! allocated, so that an error in words comes before a refusal of the device.

use attnscope_attention::layer::{Input, Linear, Output, ScoreBias, Tensor};

use super::sizes::{
    ALIGN, Allowed, PaddedSizes, StatSizes, aligned, fits, partial_sums, row_bytes, stored, vec4s,
};
use super::{EngineError, Frame, Part};

/// Every buffer that lives longer than one submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// X, padded.
    X,
    /// W_Q, W_K, W_V.
    WQ,
    /// W_K.
    WK,
    /// W_V.
    WV,
    /// Their biases.
    BQ,
    /// b_K.
    BK,
    /// b_V.
    BV,
    /// q by head.
    Q,
    /// k by head.
    K,
    /// v by head.
    V,
    /// k' by head.
    KBiased,
    /// v' by head.
    VBiased,
    /// Unit P_K by head.
    PK,
    /// Unit P_V by head.
    PV,
    /// q̃ by head.
    QFactor,
    /// k̃ by head.
    KFactor,
    /// s: the curve, or one `[L, L]` per head.
    S,
    /// Packed mask.
    Mask,
    /// Row statistics by slot.
    Stats,
    /// Texels of the large map.
    MapTexels,
    /// Texels of the small maps, by head.
    StripTexels,
    /// Texels of both output maps.
    OutputTexels,
    /// Ranges: large map, outputs, then one per head; [`crate::sizes::ALIGN`] bytes each.
    Ranges,
    /// O `[L, d]`.
    O,
    /// Y `[L, d]`.
    Y,
    /// T = O W_1ᵀ `[L, d or r]`.
    T,
    /// Low-rank Y `[L, d]`.
    YLow,
    /// W_O.
    WO,
    /// b_O.
    BO,
    /// W_1.
    W1,
    /// W_2.
    W2,
    /// ‖T_c‖² then column energies of Y.
    Energies,
}

/// One buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub name: Name,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of its largest range that is bound at once.
    pub bound: u64,
}

/// Checks that everything that `frame` needs fits the device.
///
/// # Errors
/// [`EngineError::TooLarge`] with the first buffer that does not.
pub fn check(
    frame: &Frame,
    sizes: &PaddedSizes,
    stats: &StatSizes,
    allowed: Allowed,
) -> Result<(), EngineError> {
    for need in needs(frame, sizes, stats) {
        fits(need.bytes, allowed.buffer)?;
        fits(need.bound, allowed.binding)?;
    }
    Ok(())
}

/// Every buffer that `frame` needs, each once.
pub fn needs(frame: &Frame, sizes: &PaddedSizes, stats: &StatSizes) -> Vec<Need> {
    let mut list = List::default();
    if frame.map.is_none() && frame.strip.is_none() && frame.output.is_none() {
        return list.0;
    }
    list.scores(frame, sizes);
    list.heads(Name::Stats, stats.head_bytes, stats.slots);
    list.pictures(frame, sizes);
    if frame.output.is_some() {
        list.outputs(frame, sizes);
    }
    list.0
}

#[derive(Default)]
struct List(Vec<Need>);

impl List {
    fn add(&mut self, name: Name, bytes: u64, bound: u64) {
        if self.0.iter().all(|need| need.name != name) {
            self.0.push(Need { name, bytes, bound });
        }
    }

    /// A buffer that is bound as a whole.
    fn whole(&mut self, name: Name, bytes: u64) {
        let bytes = stored(bytes);
        self.add(name, bytes, bytes);
    }

    /// A buffer of `count` heads of `bytes` bytes each, bound one at a time.
    fn heads(&mut self, name: Name, bytes: u64, count: usize) {
        self.add(name, stored(bytes * count as u64), bytes);
    }

    /// Numbers, unpadded.
    fn tensor(&mut self, name: Name, tensor: &Tensor) {
        self.whole(name, numbers(&tensor.shape) * 4);
    }

    fn linear(&mut self, [weight, bias]: [Name; 2], linear: &Linear) {
        self.tensor(weight, &linear.weight);
        if let Some(b) = &linear.bias {
            self.tensor(bias, b);
        }
    }

    /// The inputs of scores and weights.
    fn scores(&mut self, frame: &Frame, sizes: &PaddedSizes) {
        let ranked = frame.config.score_rank.is_some();
        if !ranked {
            self.part(frame, sizes, Part::Q);
            self.part(frame, sizes, Part::K);
        } else if let Some(factors) = &frame.score_factors {
            for (name, tensor) in [(Name::QFactor, &factors.q), (Name::KFactor, &factors.k)] {
                let width = tensor.shape.get(2).copied().unwrap_or(1);
                let bytes = row_bytes(sizes.seq_len + 1, width);
                self.heads(name, bytes, sizes.heads);
            }
        }
        match &frame.biases.s {
            _ if !frame.config.reading.uses_score_bias() => {}
            Some(ScoreBias::Curve { table, .. }) => {
                self.whole(Name::S, table.len() as u64 * 4);
            }
            Some(ScoreBias::Dense(_)) => {
                let bytes = aligned((sizes.seq_len as u64).pow(2) * 4);
                self.heads(Name::S, bytes, sizes.heads);
            }
            None => {}
        }
        if frame.layer.mask.is_some() {
            let words = (sizes.seq_len as u64).div_ceil(32);
            self.whole(Name::Mask, sizes.seq_len as u64 * words * 4);
        }
    }

    /// q, k or v of all heads, the inputs of their projections, and k' or v'.
    fn part(&mut self, frame: &Frame, sizes: &PaddedSizes, part: Part) {
        let (name, weights) = match part {
            Part::Q => (Name::Q, [Name::WQ, Name::BQ]),
            Part::K => (Name::K, [Name::WK, Name::BK]),
            Part::V => (Name::V, [Name::WV, Name::BV]),
        };
        self.heads(name, sizes.head_bytes, sizes.heads);
        if let Input::Hidden { w_q, w_k, w_v, .. } = &frame.layer.input {
            let linear = match part {
                Part::Q => w_q,
                Part::K => w_k,
                Part::V => w_v,
            };
            if let Some(linear) = linear {
                let row = vec4s(sizes.input_dim) as u64 * 16;
                self.whole(Name::X, sizes.seq_len as u64 * row);
                let [weight, bias] = weights;
                self.tensor(weight, &linear.weight);
                // The common row was subtracted from X: there is always something to add.
                let outs = linear.weight.shape.first().copied().unwrap_or(0);
                self.whole(bias, outs as u64 * 4);
            }
        }
        let (unit, out, bias) = match part {
            Part::Q => return,
            Part::K => (Name::PK, Name::KBiased, &frame.biases.p_k),
            Part::V => (Name::PV, Name::VBiased, &frame.biases.p_v),
        };
        if let Some(bias) = bias.as_ref().filter(|bias| bias.amplitude != 0.0) {
            let rows = bias.unit.shape.get(1).copied().unwrap_or(1);
            let bytes = row_bytes(rows + 1, sizes.head_dim);
            self.heads(unit, bytes, sizes.heads);
            self.heads(out, sizes.head_bytes, sizes.heads);
        }
    }

    /// Texels and their ranges.
    fn pictures(&mut self, frame: &Frame, sizes: &PaddedSizes) {
        let texels = |rows: u32, cols: u32| u64::from(rows) * u64::from(cols) * 8;
        if let Some(map) = &frame.map {
            self.whole(Name::MapTexels, texels(map.texel_rows, map.texel_cols));
        }
        if let Some(strip) = &frame.strip {
            let bytes = aligned(texels(strip.texels, strip.texels));
            self.heads(Name::StripTexels, bytes, sizes.heads);
        }
        if let Some(output) = &frame.output {
            let one = texels(output.texel_rows, output.texel_cols);
            self.whole(Name::OutputTexels, 2 * one);
        }
        self.add(Name::Ranges, (2 + sizes.heads as u64) * ALIGN, 8);
    }

    /// O, Y, the low-rank Y, and their inputs.
    fn outputs(&mut self, frame: &Frame, sizes: &PaddedSizes) {
        self.part(frame, sizes, Part::V);
        let model = sizes.seq_len as u64 * sizes.model_stride as u64 * 16;
        self.whole(Name::O, model);
        self.whole(Name::Y, model);
        let output = &frame.layer.output;
        if let Output::Full(linear) = output {
            self.linear([Name::WO, Name::BO], linear);
        }
        let count = frame.components();
        if let Some((w_1, w_2)) = frame.projection_factors() {
            self.tensor(Name::W1, w_1);
            let row = vec4s(count as usize) as u64 * 16;
            self.whole(Name::T, sizes.seq_len as u64 * row);
            let given = matches!(output, Output::Factors { .. });
            if given || frame.config.out_rank.is_some() {
                self.tensor(Name::W2, w_2);
            }
            if let Output::Factors { bias: Some(b), .. } = output {
                self.tensor(Name::BO, b);
            }
            if frame.config.out_rank.is_some() {
                let kept = partial_sums(sizes, count).count;
                self.whole(Name::YLow, model * u64::from(1 + kept));
            }
        }
        let columns = u64::from(count) + (sizes.heads * sizes.head_dim) as u64;
        self.whole(Name::Energies, columns * 4);
    }
}

/// How many numbers a tensor of `shape` has; saturates instead of overflowing.
fn numbers(shape: &[usize]) -> u64 {
    let sizes = shape.iter().map(|&n| n as u64);
    sizes.fold(1, u64::saturating_mul).min(u64::MAX / 16)
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
