//! Where a source's listing and its own text disagree, point by point. Each point is an edit of
//! ordinary fields of the Scene, and its state is read from those fields.

use super::presets::look_at;
use super::{BiasShape, Convention, Curve, LessonId, Mechanism, Scale, Scene, Source};
use attnscope_attention::config::{FullyMasked, Reading};

/// One point in which a listing and its text differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Partial: `window_size` is a parameter but never used; the text limits the distance by it.
    Window,
    /// Partial: the projections exist but are never used.
    Projection,
    /// Partial: scores are divided by √`embed_size`; the text has √d_k.
    Scale,
    /// CJAR: `pos_k` is one row for all positions, so no weight moves.
    Keys,
    /// CJAR: s_ij is nowhere in the listing.
    Bias,
    /// CJAR: the mask is −1e9, so a fully masked row gets the mean of all values.
    Empty,
    /// CJAR: the rank is only in W_O; O(L² r) needs it in the score.
    Rank,
}

/// Rank of W_O in the CJAR listing's preset.
pub const OUT_RANK: u32 = 64;
/// Rank of the score if the CJAR text is taken literally.
pub const SCORE_RANK: u32 = 8;

impl LessonId {
    /// The points of this listing, in the order of the panel; none for a starter scene.
    pub const fn points(self) -> &'static [Point] {
        match self {
            Self::Partial => &[Point::Window, Point::Projection, Point::Scale],
            Self::Cjar => &[Point::Keys, Point::Bias, Point::Empty, Point::Rank],
            _ => &[],
        }
    }
}

/// Sets `scene` to listing `id`: everything as in the listing.
pub(super) fn begin(id: LessonId, scene: &mut Scene) {
    look_at(scene, 1, 8);
    if id == LessonId::Cjar {
        // A head that does not rely on [CLS] alone, so that every point is visible.
        look_at(scene, 1, 2);
        scene.mechanism = Mechanism::Cjar;
        // `torch.randn(1, heads, 1, head_dim)` each.
        for bias in [&mut scene.cjar.p_k, &mut scene.cjar.p_v] {
            bias.amplitude = 1.0;
            bias.shape = BiasShape::Normal;
            bias.per_position = false;
        }
        // The caller supplies the mask. This one, the strict past, makes row 0 fully masked.
        scene.windowed = true;
        scene.window.convention = Convention::Explicit;
        (scene.window.left, scene.window.right) = (None, Some(-1));
    }
    for point in id.points() {
        point.set(scene, false);
    }
}

impl Point {
    /// Name in element ids.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "point-window",
            Self::Projection => "point-projection",
            Self::Scale => "point-scale",
            Self::Keys => "point-keys",
            Self::Bias => "point-bias",
            Self::Empty => "point-empty",
            Self::Rank => "point-rank",
        }
    }

    /// Whether this point applies to the Scene's source: synthetic layers have their own q, k and v
    /// and no projection to skip.
    pub fn applies(self, scene: &Scene) -> bool {
        self != Self::Projection || matches!(scene.source, Source::MiniLm { .. })
    }

    /// Whether the Scene follows the text (`Some(true)`), the listing (`Some(false)`), or neither.
    pub fn as_text(self, scene: &Scene) -> Option<bool> {
        let cjar = &scene.cjar;
        let either = |listing: bool, text: bool| (listing || text).then_some(text);
        match self {
            Self::Window => either(
                scene.mechanism == Mechanism::Full,
                scene.mechanism == Mechanism::Window
                    && scene.window.convention == Convention::Distance,
            ),
            Self::Projection => Some(scene.projected),
            Self::Scale => either(
                scene.scale == Scale::ModelDim,
                scene.scale == Scale::HeadDim,
            ),
            Self::Empty => Some(scene.empty == FullyMasked::Zero),
            _ if scene.mechanism != Mechanism::Cjar => None,
            Self::Keys => (cjar.p_k.amplitude != 0.0).then_some(cjar.p_k.per_position),
            Self::Bias => either(
                cjar.reading == Reading::Softmax,
                cjar.reading == Reading::Product && cjar.s.amplitude != 0.0,
            ),
            Self::Rank => either(
                cjar.score_rank.is_none() && cjar.out_rank.is_some(),
                cjar.score_rank.is_some() && cjar.out_rank.is_none(),
            ),
        }
    }

    /// Makes the Scene follow the text, or the listing, in this point. Everything else stays.
    pub fn set(self, scene: &mut Scene, text: bool) {
        let cjar = &mut scene.cjar;
        match self {
            Self::Window => {
                scene.mechanism = if text {
                    Mechanism::Window
                } else {
                    Mechanism::Full
                };
                if text {
                    scene.window.convention = Convention::Distance;
                }
                return;
            }
            Self::Projection => {
                scene.projected = text;
                return;
            }
            Self::Scale => {
                scene.scale = if text {
                    Scale::HeadDim
                } else {
                    Scale::ModelDim
                };
                return;
            }
            Self::Empty => {
                scene.empty = if text {
                    FullyMasked::Zero
                } else {
                    FullyMasked::Mean
                };
                return;
            }
            Self::Keys => {
                cjar.p_k.per_position = text;
                if cjar.p_k.amplitude == 0.0 {
                    cjar.p_k.amplitude = 1.0;
                }
            }
            Self::Bias => {
                cjar.reading = if text {
                    Reading::Product
                } else {
                    Reading::Softmax
                };
                if !text {
                    // The listing has no s at all.
                    cjar.s = Curve::default();
                } else if cjar.s.amplitude == 0.0 {
                    (cjar.s.amplitude, cjar.s.decay) = (1.0, 0.25);
                }
            }
            Self::Rank => {
                (cjar.score_rank, cjar.out_rank) = if text {
                    (Some(SCORE_RANK), None)
                } else {
                    (None, Some(OUT_RANK))
                };
            }
        }
        scene.mechanism = Mechanism::Cjar;
    }
}
