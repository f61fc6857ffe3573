//! The starter scenes: each has a real head with a visible pattern, a move that changes the
//! picture, and the topics of its sentence. No words here; they are in the language files.
//!
//! The numbers in the comments come from the f64 reference; `tests/scene_presets.rs` checks them.

use super::listing;
use super::{LessonId, Mechanism, Panel, Passage, Scene, Source};
use attnscope_attention::config::Reading;

/// A topic of the sentence about a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// `Summary::strongest`: the largest weight.
    Strongest,
    /// `Summary::favourite`: the key with the largest mean weight.
    Favourite,
    /// `Summary::offset`: the offset with the largest mean weight.
    Offset,
    /// `Summary::visible_*`: keys per row.
    VisibleKeys,
    /// `Summary::lost`: what the mask takes away, and the row that loses most.
    Lost,
    /// `Summary::row_sum`: smallest and largest row sum.
    RowSum,
    /// `Summary::negative`: share of negative weights.
    Negative,
    /// `Summary::moved`: how far the bias moves any weight.
    Moved,
    /// Σ_{k≤r}σ²/Σσ² of W_O, from its singular values.
    EnergyKept,
    /// ‖Y − Y_r‖/‖Y‖, from the report's component energies.
    OutputError,
    /// d² against 2dr.
    Parameters,
}

/// The token "it" of the sentence, which refers to the bridge.
const IT: u32 = 12;
/// The key "river" of the sentence.
const RIVER: u32 = 6;
/// The distance from "it" back to "bridge".
const IT_TO_BRIDGE: u32 = 9;

impl LessonId {
    /// The starter scenes, in the order of the menu.
    pub const ALL: [Self; 6] = [
        Self::Full,
        Self::Window,
        Self::Sink,
        Self::Bias,
        Self::Signed,
        Self::Rank,
    ];

    /// The listings of the sources, in the order of the menu: see [`super::listing`].
    pub const LISTINGS: [Self; 2] = [Self::Partial, Self::Cjar];

    /// The Scene with which this lesson starts. Language and theme belong to the reader and are not
    /// set.
    pub fn scene(self) -> Scene {
        let mut scene = Scene {
            lesson: Some(self),
            ..Scene::default()
        };
        match self {
            // A next-token head: 0.62 on the next token, 0.33 on [CLS].
            Self::Full => look_at(&mut scene, 1, 8),
            // "it" puts 0.49 on "river" and 0.45 on "bridge"; with w = 2 it loses 0.99.
            Self::Window => {
                look_at(&mut scene, 3, 1);
                scene.view.cell = Some((IT, RIVER));
                scene.mechanism = Mechanism::Window;
                scene.window.size = 2;
            }
            // 0.72 on [CLS], 0.26 on the previous token; with w = 2 a row loses 0.63 on average.
            Self::Sink => {
                look_at(&mut scene, 1, 9);
                scene.mechanism = Mechanism::Window;
                scene.window.size = 2;
            }
            // One P_K for all positions moves no weight (SPEC 5), whatever its amplitude.
            Self::Bias => {
                look_at(&mut scene, 1, 8);
                scene.mechanism = Mechanism::Cjar;
                scene.cjar.reading = Reading::Softmax;
                scene.cjar.p_k.amplitude = 0.5;
                scene.cjar.p_k.per_position = false;
            }
            // 65 % of the weights are negative, rows sum to −0.84 … 1.33.
            Self::Signed => {
                look_at(&mut scene, 1, 8);
                scene.mechanism = Mechanism::Cjar;
                scene.cjar.reading = Reading::Product;
                scene.cjar.s.amplitude = 1.0;
                scene.cjar.s.decay = 0.25;
            }
            Self::Partial | Self::Cjar => listing::begin(self, &mut scene),
            // r = d/2 keeps 0.94 of the energy and saves no parameter: 2dr = d².
            Self::Rank => {
                look_at(&mut scene, 1, 8);
                scene.mechanism = Mechanism::Cjar;
                scene.cjar.reading = Reading::Softmax;
                scene.cjar.out_rank = Some(192);
                scene.view.panel = Panel::Output;
            }
        }
        scene
    }

    /// Applies the suggested move: the next step that the reader is invited to take. Everything
    /// else stays as the reader has it.
    #[must_use]
    pub fn suggested(self, mut scene: Scene) -> Scene {
        match self {
            // A head in a deeper layer, in which a word attends to what it refers to.
            Self::Full => {
                look_at(&mut scene, 3, 1);
                scene.view.cell = Some((IT, RIVER));
            }
            // Just wide enough for "it" to see "bridge" again.
            Self::Window => scene.window.size = IT_TO_BRIDGE,
            // One sink gives [CLS] back: a row loses 0.02 on average instead of 0.63.
            Self::Sink => scene.window.sinks = 1,
            // The same numbers, one row for each position: now weights move.
            Self::Bias => scene.cjar.p_k.per_position = true,
            // The same s inside the softmax: no negative weight, rows sum to 1.
            Self::Signed => scene.cjar.reading = Reading::Bias,
            // The moves of a listing are its points.
            Self::Partial | Self::Cjar => {}
            // A third of the parameters of W_O, 0.57 of the energy.
            Self::Rank => scene.cjar.out_rank = Some(64),
        }
        scene
    }

    /// The topics of the sentence under this lesson's picture, the most important first.
    pub fn facts(self) -> &'static [Fact] {
        match self {
            Self::Full | Self::Partial | Self::Cjar => {
                &[Fact::Offset, Fact::Favourite, Fact::Strongest]
            }
            Self::Window | Self::Sink => &[Fact::VisibleKeys, Fact::Lost, Fact::Favourite],
            Self::Bias => &[Fact::Moved],
            Self::Signed => &[Fact::Negative, Fact::RowSum],
            Self::Rank => &[Fact::EnergyKept, Fact::OutputError, Fact::Parameters],
        }
    }
}

/// Head `head` of layer `layer` of the sentence.
pub(super) fn look_at(scene: &mut Scene, layer: u8, head: u32) {
    scene.source = Source::MiniLm {
        text: Passage::Sentence,
        layer,
    };
    scene.view.head = Some(head);
}
