//! Words of the self-check page.

use super::{Counted, Text, texts};
use crate::check::facts::Fact;

texts!("check");

/// What a fact says.
pub const fn fact(fact: Fact) -> Text {
    match fact {
        Fact::WindowOverAll => F_WINDOW,
        Fact::SharedKeyBias => F_SHARED_K,
        Fact::PositionKeyBias => F_POSITION_K,
        Fact::SharedKeyBiasProduct => F_SHARED_K_PRODUCT,
        Fact::SharedValueBias => F_SHARED_V,
        Fact::ShiftOfScoreBias => F_SHIFT,
        Fact::RowSums => F_ROWS,
        Fact::ProductRowSums => F_PRODUCT_ROWS,
        Fact::SegmentSums => F_SEGMENTS,
        Fact::OutputRank => F_OUT_RANK,
        Fact::ScoreRank => F_SCORE_RANK,
        Fact::EmptyRow => F_EMPTY,
        Fact::SameBits => F_BITS,
    }
}
