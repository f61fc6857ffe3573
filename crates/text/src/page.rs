//! Words of the header, the status line and the embedded page.

use super::{Text, texts};
use attnscope_scene::{Passage, Pattern};

texts!("page");

/// The name of a shipped text.
pub const fn passage(text: Passage) -> Text {
    match text {
        Passage::Sentence => SENTENCE,
        Passage::Paragraph => PARAGRAPH,
        Passage::Page => PAGE,
    }
}

/// The name of a synthetic pattern.
pub const fn pattern(pattern: Pattern) -> Text {
    match pattern {
        Pattern::Random => RANDOM,
        Pattern::Repeated => REPEATED,
        Pattern::Local => LOCAL,
        Pattern::LongRange => LONG_RANGE,
    }
}
