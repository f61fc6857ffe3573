//! Words of the starter scenes: a title, two sentences, a move to try.

use super::{Text, texts};
use attnscope_scene::LessonId;

texts!("lessons");

/// Title, two sentences, and the label of the suggested move; a listing has points instead.
pub const fn lesson(id: LessonId) -> (Text, Text, Option<Text>) {
    match id {
        LessonId::Full => (FULL_TITLE, FULL_TEXT, Some(FULL_MOVE)),
        LessonId::Window => (WINDOW_TITLE, WINDOW_TEXT, Some(WINDOW_MOVE)),
        LessonId::Sink => (SINK_TITLE, SINK_TEXT, Some(SINK_MOVE)),
        LessonId::Bias => (BIAS_TITLE, BIAS_TEXT, Some(BIAS_MOVE)),
        LessonId::Signed => (SIGNED_TITLE, SIGNED_TEXT, Some(SIGNED_MOVE)),
        LessonId::Rank => (RANK_TITLE, RANK_TEXT, Some(RANK_MOVE)),
        LessonId::Partial => (PARTIAL_TITLE, LISTING_TEXT, None),
        LessonId::Cjar => (CJAR_TITLE, LISTING_TEXT, None),
    }
}
