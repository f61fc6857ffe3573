//! What was wrong with a text that had to become a Scene anyway.

use std::fmt;

/// Longest part of foreign text that a warning repeats, in characters.
pub const QUOTE_CHARS: usize = 40;

/// One thing that was ignored, replaced or corrected. The page turns it into a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The link parameter it is about, at most [`QUOTE_CHARS`] characters.
    pub key: String,
    /// What stood there, at most [`QUOTE_CHARS`] characters.
    pub value: String,
    /// Why it could not stay.
    pub reason: Reason,
}

/// Why a value could not stay as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// No parameter of this name; ignored.
    UnknownKey,
    /// The parameter stood there before; the first one counts.
    Duplicate,
    /// Not a number; the default is used.
    NotANumber,
    /// Not one of the words that are possible here; the default is used.
    UnknownWord,
    /// Too few or too many parts, or parts of the wrong kind; the default is used.
    Malformed,
    /// Outside the legal range; moved to its nearer end.
    OutOfRange {
        /// Smallest legal value.
        min: f64,
        /// Largest legal value.
        max: f64,
    },
    /// The layer on screen has no such thing; what is shown instead is used.
    NotInLayer,
    /// Given twice in a list; kept once.
    Repeated,
    /// The link was made by a newer attnscope; what is known of it is used.
    NewerVersion,
    /// Longer than any Scene; the rest was not read.
    TooLong,
}

impl Warning {
    /// A warning about `key`, quoting the beginnings of both texts.
    pub fn new(key: &str, value: &str, reason: Reason) -> Self {
        Self {
            key: quote(key),
            value: quote(value),
            reason,
        }
    }
}

/// The beginning of a foreign text, control characters made harmless.
fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS).map(harmless).collect()
}

/// A character of a foreign text as it may stand on the page: a sign of its own for what would
/// break a line or turn the direction of what follows.
pub fn harmless(c: char) -> char {
    match c {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            '\u{fffd}'
        }
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    }
}

/// For logs and tests; the page has sentences of its own in each language.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}: {:?}", self.key, self.value, self.reason)
    }
}
