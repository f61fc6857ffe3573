//! Scene ↔ URL fragment: `v=1&src=sentence.3&m=window&w=8`. Versioned, readable, without defaults,
//! and total: any text gives a Scene and a list of warnings.

use super::Scene;
use super::keys::KEYS;
use super::warning::{QUOTE_CHARS, Reason, Warning};

/// The version of the link format that this code writes.
pub const VERSION: u32 = 1;
/// Maximum bytes of a fragment that are read; the longest canonical link is far shorter.
pub const MAX_BYTES: usize = 8192;
/// Maximum number of warnings: nobody reads more, and a hostile link cannot make more.
pub const MAX_WARNINGS: usize = 16;

/// The result of reading a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// A legal Scene, whatever the text was.
    pub scene: Scene,
    /// Problems of the text, in its order; at most [`MAX_WARNINGS`].
    pub warnings: Vec<Warning>,
    /// The version that the text claims, saturated at the largest number; [`VERSION`] when it
    /// claims none.
    pub version: u32,
}

impl Scene {
    /// The Scene as a URL fragment without `#`. It has only characters that need no escaping, and
    /// no parameters at their default.
    pub fn to_fragment(&self) -> String {
        let plain = Self::default();
        let mut fragment = format!("v={VERSION}");
        for key in KEYS {
            let value = (key.write)(self);
            if value != (key.write)(&plain) {
                fragment.push('&');
                fragment.push_str(key.name);
                fragment.push('=');
                fragment.push_str(&value);
            }
        }
        fragment
    }

    /// The link text for the parameter `key` in this Scene, or for the parameter that `key` is a
    /// part of.
    pub fn value(&self, key: &str) -> Option<String> {
        if key == "v" {
            return Some(VERSION.to_string());
        }
        let named = |name: &str| KEYS.iter().find(|key| key.name == name);
        let whole = || key.split_once('.').and_then(|(whole, _)| named(whole));
        named(key).or_else(whole).map(|key| (key.write)(self))
    }

    /// The Scene of a fragment, with or without its `#`. Total: unknown, duplicate, illegal and
    /// damaged parameters become warnings, and the others apply.
    pub fn from_fragment(fragment: &str) -> Parsed {
        let mut warnings = Vec::new();
        let mut version = None;
        let mut scene = Self::default();
        let mut seen = vec![false; KEYS.len()];

        for pair in beginning(fragment, &mut warnings)
            .trim_start_matches(['#', '?'])
            .split('&')
            // A link copied from HTML source has `&amp;` between its parameters.
            .map(|pair| pair.strip_prefix("amp;").unwrap_or(pair))
            .filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name), decode(value));
            let mut warn = |reason| warnings.push(Warning::new(&name, &value, reason));
            if name == "v" {
                let read = read_version(&value);
                match read {
                    _ if version.is_some() => warn(Reason::Duplicate),
                    Ok(number) if number > VERSION => warn(Reason::NewerVersion),
                    Ok(_) => {}
                    Err(reason) => warn(reason),
                }
                version = version.or(Some(read.unwrap_or(VERSION)));
                continue;
            }
            let Some(at) = KEYS.iter().position(|key| key.name == name) else {
                warn(Reason::UnknownKey);
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                warn(Reason::Duplicate);
            } else if let Err(reason) = (KEYS[at].read)(&mut scene, &value) {
                warn(reason);
            }
        }
        let (scene, moved) = scene.sanitize();
        warnings.extend(moved);
        warnings.truncate(MAX_WARNINGS);
        Parsed {
            scene,
            warnings,
            version: version.unwrap_or(VERSION),
        }
    }
}

/// The version that a link claims: any whole number above ours is a newer one, however long it is;
/// there has never been one below 1.
fn read_version(text: &str) -> Result<u32, Reason> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Reason::NotANumber);
    }
    // Digits that do not fit a u32 saturate.
    let number = digits.parse().unwrap_or(u32::MAX);
    if number == 0 || text.starts_with('-') {
        return Err(Reason::OutOfRange {
            min: 1.0,
            max: f64::from(VERSION),
        });
    }
    Ok(number)
}

/// The part of a text that is read: all of it, or as many whole parameters as the limit allows.
fn beginning<'a>(text: &'a str, warnings: &mut Vec<Warning>) -> &'a str {
    if text.len() <= MAX_BYTES {
        return text;
    }
    let end = text.floor_char_boundary(MAX_BYTES);
    let start: String = text.chars().take(QUOTE_CHARS).collect();
    warnings.push(Warning::new("#", &start, Reason::TooLong));
    let end = text[..end].rfind('&').unwrap_or(0);
    &text[..end]
}

/// Percent-decoding that never fails: a malformed escape stays as it is, invalid UTF-8 becomes
/// U+FFFD.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escape.unwrap_or(bytes[at]));
        at += if escape.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
