//! Problems of a text that was read as a Scene anyway.

use std::fmt;

/// Longest part of foreign text that a warning quotes, in characters.
pub const QUOTE_CHARS: usize = 40;

/// One thing that was ignored, replaced or corrected. The page turns it into a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The link parameter it is about, at most [`QUOTE_CHARS`] characters.
    pub key: String,
    /// Its text, at most [`QUOTE_CHARS`] characters.
    pub value: String,
    /// Why it was not used as it is.
    pub reason: Reason,
}

/// Why a value was not used as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// No parameter of this name; ignored.
    UnknownKey,
    /// A parameter that came before; the first one counts.
    Duplicate,
    /// Not a number; the default is used.
    NotANumber,
    /// Not one of the possible words; the default is used.
    UnknownWord,
    /// Too few or too many parts, or parts of the wrong kind; the default is used.
    Malformed,
    /// Outside the legal range; clamped to the nearer end.
    OutOfRange {
        /// Smallest legal value.
        min: f64,
        /// Largest legal value.
        max: f64,
    },
    /// The layer on screen does not have it; the value that is shown instead is used.
    NotInLayer,
    /// Given twice in a list; kept once.
    Repeated,
    /// A newer attnscope made the link; the known parameters are used.
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

/// The start of a foreign text, with control characters replaced.
fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS).map(harmless).collect()
}

/// A character of a foreign text made safe for the page: a visible sign replaces characters that
/// would break a line or change the direction of the following text.
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
