//! Random sequences of Frames over a few layers that share units, tables and factors: what an engine
//! keeps of an earlier Frame must not be seen in a later one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::layer::{Biases, Output, PositionBias, ScoreBias, Tensor};
use attnscope_attention::low_rank;
use attnscope_attention::visibility::Visibility;
use attnscope_engine::{
    ColorTable, Colors, Frame, MapView, OutFactors, OutputView, Pool, ScoreFactors, StripView,
};
use attnscope_scene::{Quantity, Rect};
use proptest::prelude::*;

use super::COLORS;
use super::recipe::{Auxiliary, Position, Projection, Recipe, Source};

/// Pixels of the three pictures.
pub const PICTURES: [(u32, u32); 3] = [(20, 20), (42, 20), (24, 43)];

/// Frames of one sequence.
pub const LENGTH: usize = 50;

/// What of a Frame an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Layer,
    KeyUnit,
    KeyAmplitude,
    ValueUnit,
    ValueAmplitude,
    Auxiliary,
    Reading,
    Segment,
    Scale,
    Near,
    Empty,
    ScoreRank,
    OutRank,
    OutFactors,
    Map,
    Head,
    Quantity,
    Rect,
    Texels,
    Colors,
    Strip,
    Output,
}

/// Every part; those with the most kept behind them more than once.
const PARTS: [Part; 28] = [
    Part::Layer,
    Part::KeyUnit,
    Part::KeyUnit,
    Part::KeyAmplitude,
    Part::KeyAmplitude,
    Part::KeyAmplitude,
    Part::ValueUnit,
    Part::ValueUnit,
    Part::ValueAmplitude,
    Part::ValueAmplitude,
    Part::ValueAmplitude,
    Part::Auxiliary,
    Part::Reading,
    Part::Segment,
    Part::Scale,
    Part::Near,
    Part::Empty,
    Part::ScoreRank,
    Part::OutRank,
    Part::OutFactors,
    Part::Map,
    Part::Head,
    Part::Quantity,
    Part::Rect,
    Part::Texels,
    Part::Colors,
    Part::Strip,
    Part::Output,
];

/// From one Frame to the next.
#[derive(Clone, Debug)]
pub struct Step {
    /// Parts and what they become, as numbers that [`Choices`] takes modulo what there is.
    pub edits: Vec<(Part, u8)>,
    /// Pieces of work before the next Frame comes; `None`: all of it, and then the engine is judged.
    pub pieces: Option<u8>,
}

/// Sequences of [`LENGTH`] Frames.
pub fn sequences() -> impl Strategy<Value = Vec<Step>> {
    let edit = (prop::sample::select(PARTS.to_vec()), any::<u8>());
    let pieces = prop_oneof![2 => Just(None), 1 => (0u8..4).prop_map(Some)];
    let step = (prop::collection::vec(edit, 1..=3), pieces)
        .prop_map(|(edits, pieces)| Step { edits, pieces });
    prop::collection::vec(step, LENGTH)
}

/// The P_K that acts, if any: which unit, and the bits of its amplitude.
type FactorsOf = Option<(usize, u32)>;

/// A layer and what is made for it once, as the page does.
struct Kit {
    base: Frame,
    units: [Tensor; 3],
    tables: [ScoreBias; 3],
    out: Option<Arc<OutFactors>>,
    score: RefCell<HashMap<FactorsOf, Arc<ScoreFactors>>>,
}

impl Kit {
    fn new(recipe: &Recipe) -> Self {
        let biases = |seed: u32, each: bool, s: Auxiliary| {
            let other = Recipe {
                seed: recipe.seed + seed,
                s: Some(s),
                p_k: Some(Position {
                    each,
                    amplitude: 1.0,
                }),
                ..recipe.clone()
            };
            other.frame().biases
        };
        let all = [
            biases(100, true, Auxiliary::Curve(1.0)),
            biases(200, true, Auxiliary::Dense(1.0)),
            biases(300, false, Auxiliary::Curve(2.0)),
        ];
        let base = recipe.frame();
        let out = match &base.layer.output {
            Output::Full(linear) => low_rank::out_factors(&linear.weight).ok().map(Arc::new),
            _ => None,
        };
        Self {
            units: all.each_ref().map(|b| b.p_k.clone().unwrap().unit),
            tables: all.map(|b| b.s.unwrap()),
            out,
            score: RefCell::default(),
            base,
        }
    }

    /// The factors of q and k' under these biases: the same where those are the same.
    fn factors(&self, key: Option<(usize, u32)>, biases: &Biases) -> Arc<ScoreFactors> {
        let make = || Arc::new(low_rank::score_factors(&self.base.layer, biases).unwrap());
        let mut kept = self.score.borrow_mut();
        Arc::clone(kept.entry(key).or_insert_with(make))
    }
}

/// The layers of all sequences.
pub struct Kits(Vec<Kit>);

impl Kits {
    /// Two layers of the same sizes, one from hidden states with a mask and factors of its own, one
    /// without an output projection.
    pub fn new() -> Self {
        let plain = Recipe {
            seed: 11,
            heads: 3,
            seq_len: 13,
            head_dim: 8,
            output: Projection::Ranked {
                rank: 5,
                bias: true,
            },
            ..Recipe::default()
        };
        let twin = Recipe {
            seed: 12,
            ..plain.clone()
        };
        let hidden = Recipe {
            seed: 13,
            heads: 2,
            seq_len: 18,
            head_dim: 5,
            hidden: Some(0.3),
            source: Source::Hidden {
                weights: [true, true, false],
                bias: true,
            },
            output: Projection::Given {
                rank: 6,
                bias: false,
            },
            ..Recipe::default()
        };
        let bare = Recipe {
            seed: 14,
            heads: 4,
            seq_len: 9,
            head_dim: 4,
            output: Projection::None,
            ..Recipe::default()
        };
        Self([plain, twin, hidden, bare].iter().map(Kit::new).collect())
    }
}

/// The present number of every part.
pub struct Choices<'a> {
    kits: &'a Kits,
    numbers: [u8; PARTS.len()],
}

impl<'a> Choices<'a> {
    /// All parts at 0.
    pub fn new(kits: &'a Kits) -> Self {
        Self {
            kits,
            numbers: [0; PARTS.len()],
        }
    }

    /// Takes the edits of `step` over and gives the Frame that follows.
    pub fn after(&mut self, step: &Step) -> Frame {
        for &(part, to) in &step.edits {
            self.numbers[part as usize] = to;
        }
        self.frame()
    }

    fn of<T: Copy>(&self, part: Part, all: &[T]) -> T {
        all[self.number(part) % all.len()]
    }

    fn number(&self, part: Part) -> usize {
        usize::from(self.numbers[part as usize])
    }

    fn position(&self, kit: &Kit, unit: Part, amplitude: Part) -> Option<(usize, PositionBias)> {
        let at = self.number(unit) % kit.units.len();
        // Present at amplitude 0, and absent.
        let amplitude = self.of(amplitude, &[None, Some(1.0), Some(0.0), Some(-0.7)])?;
        let unit = kit.units[at].clone();
        Some((at, PositionBias { unit, amplitude }))
    }

    fn frame(&self) -> Frame {
        let kit = &self.kits.0[self.number(Part::Layer) % self.kits.0.len()];
        let mut frame = kit.base.clone();
        let key = self.position(kit, Part::KeyUnit, Part::KeyAmplitude);
        let value = self.position(kit, Part::ValueUnit, Part::ValueAmplitude);
        let table = self.of(Part::Auxiliary, &[None, Some(0), Some(1), Some(2)]);
        let acting = key.as_ref().filter(|(_, p)| p.amplitude != 0.0);
        let acting = acting.map(|(at, p)| (*at, p.amplitude.to_bits()));
        frame.biases = Biases {
            p_k: key.map(|(_, p)| p),
            p_v: value.map(|(_, p)| p),
            s: table.map(|at: usize| kit.tables[at].clone()),
        };
        let config = &mut frame.config;
        config.reading = self.of(
            Part::Reading,
            &[Reading::Softmax, Reading::Bias, Reading::Product],
        );
        config.segment = self.of(Part::Segment, &[None, Some(4), Some(70)]);
        config.scale = self.of(Part::Scale, &[0.4, 0.7]);
        config.visibility = self.visibility();
        config.empty = self.of(Part::Empty, &[FullyMasked::Zero, FullyMasked::Mean]);
        config.score_rank = self.of(Part::ScoreRank, &[None, None, Some(2), Some(3)]);
        if config.score_rank.is_some() {
            frame.score_factors = Some(kit.factors(acting, &frame.biases));
        }
        config.out_rank = self.of(Part::OutRank, &[None, Some(1), Some(4)]);
        frame.out_factors = (config.out_rank.is_some()
            || self.number(Part::OutFactors).is_multiple_of(2))
        .then(|| kit.out.clone())
        .flatten();
        if frame.out_factors.is_none() {
            config.out_rank = None;
        }
        frame.map = self.map(&frame);
        frame.strip = self.strip(&frame);
        frame.output = self.output(&frame);
        frame
    }

    fn visibility(&self) -> Visibility {
        let all = Visibility::default();
        let window = Visibility {
            left: Some(3),
            right: Some(1),
            ..all
        };
        let past = Visibility {
            causal: true,
            right: Some(-1),
            ..all
        };
        let dilated = Visibility {
            dilation: 2,
            sinks: 1,
            ..window
        };
        let padded = Visibility {
            padding: 7,
            ..window
        };
        let rules = [all, window, past, dilated, padded];
        rules[self.number(Part::Near) % rules.len()]
    }

    fn colors(&self) -> Colors {
        self.of(
            Part::Colors,
            &[
                COLORS,
                Colors {
                    range: Some((0.0, 1.0)),
                    ..COLORS
                },
                Colors {
                    table: ColorTable::Diverging,
                    ..COLORS
                },
            ],
        )
    }

    fn map(&self, frame: &Frame) -> Option<MapView> {
        let len = frame.layer.seq_len as u32;
        let whole = Rect {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        };
        let part = Rect {
            row: 2,
            col: 1,
            rows: 5,
            cols: len - 3,
        };
        // It overhangs some of the layers.
        let corner = Rect {
            row: 7,
            col: 6,
            rows: 9,
            cols: 9,
        };
        let rect = self.of(Part::Rect, &[whole, part, corner]);
        let (texel_rows, texel_cols) = match self.number(Part::Texels) % 3 {
            0 | 1 => (rect.rows, rect.cols),
            _ => (rect.rows.min(4), rect.cols.min(3)),
        };
        let head = self.number(Part::Head) as u32 % frame.layer.heads as u32;
        (self.number(Part::Map) % 4 != 1).then(|| MapView {
            head,
            quantity: self.of(Part::Quantity, &[Quantity::Weights, Quantity::Score]),
            rect,
            texel_rows,
            texel_cols,
            pool: self.of(Part::Texels, &[Pool::Max, Pool::Max, Pool::Max, Pool::Mean]),
            colors: self.colors(),
        })
    }

    fn strip(&self, frame: &Frame) -> Option<StripView> {
        let texels = self.of(Part::Strip, &[None, Some(9), Some(30)])?;
        Some(StripView {
            quantity: self.of(Part::Quantity, &[Quantity::Weights, Quantity::Score]),
            texels,
            columns: frame.layer.heads as u32,
            gap: 1,
            colors: self.colors(),
        })
    }

    fn output(&self, frame: &Frame) -> Option<OutputView> {
        let rows = self.of(Part::Output, &[None, Some(5), Some(20)])?;
        Some(OutputView {
            texel_rows: frame.layer.seq_len.min(rows) as u32,
            texel_cols: frame.layer.model_dim() as u32,
            colors: Colors {
                range: None,
                ..self.colors()
            },
        })
    }
}

/// Numbers and pixels of what is on screen, by name; numbers as bits.
pub type Seen = Vec<(&'static str, Vec<u32>)>;

/// Bits of numbers.
pub fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Holds what one engine shows after Frame `at` to what a fresh one shows.
pub fn same(at: usize, frame: &Frame, kept: &Seen, fresh: &Seen) -> Result<(), TestCaseError> {
    prop_assert_eq!(kept.len(), fresh.len());
    for ((name, kept), (_, fresh)) in kept.iter().zip(fresh) {
        if kept != fresh {
            let first = kept.iter().zip(fresh).position(|(a, b)| a != b);
            let of = |all: &[u32]| first.map(|at| f32::from_bits(all[at]));
            return Err(TestCaseError::fail(format!(
                "{name} of Frame {at} at {first:?}: {:?} where a fresh engine has {:?}; {} and {} \
                 numbers; {:?} {:?}",
                of(kept),
                of(fresh),
                kept.len(),
                fresh.len(),
                frame.config,
                frame.map,
            )));
        }
    }
    Ok(())
}
