//! Symbols of the texts, as `build/symbols.rs` marks them: shown with a subscript, spoken as "W O".
//! Only the texts of the language files are ever marked.

use std::borrow::Cow;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Plain text.
    Plain(&'a str),
    /// A subscript.
    Below(&'a str),
    /// A code name.
    Code(&'a str),
}

const BELOW: char = '\u{1}';
const CODE: char = '\u{2}';
const END: char = '\u{3}';
const MARKS: [char; 3] = [BELOW, CODE, END];

/// The parts of a text, in order.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = rest.chars().next()?;
        let inner = rest.strip_prefix(MARKS).unwrap_or(rest);
        let (part, after) = inner.split_at(inner.find(MARKS).unwrap_or(inner.len()));
        rest = after.strip_prefix(END).unwrap_or(after);
        Some(match kind {
            BELOW => Part::Below(part),
            CODE => Part::Code(part),
            _ => Part::Plain(part),
        })
    })
}

/// Whether a text has symbols or code names.
pub fn has_any(text: &str) -> bool {
    text.contains(MARKS)
}

/// A text for a place without markup that is spoken, like a label: "W O".
pub fn spoken(text: &str) -> Cow<'_, str> {
    with(text, " ")
}

/// A text for a place without markup that is read, as in the language files: "W_O".
pub fn written(text: &str) -> Cow<'_, str> {
    with(text, "_")
}

fn with<'a>(text: &'a str, between: &str) -> Cow<'a, str> {
    if !has_any(text) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Plain(part) | Part::Code(part) => out.push_str(part),
            Part::Below(part) => {
                out.push_str(between);
                out.push_str(part);
            }
        }
    }
    out.into()
}

/// A text for an option of a select, which shows no markup: uses Unicode's subscripts where they
/// exist.
pub fn flat(text: &str) -> String {
    const LETTERS: &str = "0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉aₐeₑhₕiᵢjⱼkₖlₗmₘnₙoₒpₚrᵣsₛtₜuᵤvᵥxₓ";
    let lowered = |c: char| {
        let mut letters = LETTERS.chars();
        letters.find(|letter| *letter == c);
        letters.next().unwrap_or(c)
    };
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Plain(part) | Part::Code(part) => out.push_str(part),
            Part::Below(part) => out.extend(part.chars().map(lowered)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{controls, listing, sentence, side};
    use attnscope_scene::Lang;

    #[test]
    fn symbols_of_the_texts_are_marked_and_nothing_else() {
        let parts_of = |text: &'static str| parts(text).collect::<Vec<_>>();
        assert_eq!(
            parts_of(side::ERROR_W.pick(Lang::En)),
            [Part::Plain("relative error of W"), Part::Below("O")]
        );
        assert_eq!(
            parts_of(side::SPECTRUM.pick(Lang::Zh)).get(1),
            Some(&Part::Below("O")),
            "{:?}",
            side::SPECTRUM.pick(Lang::Zh)
        );
        assert_eq!(
            parts_of(listing::BIAS.pick(Lang::En)),
            [Part::Plain("Auxiliary bias s"), Part::Below("ij")]
        );
        assert_eq!(
            parts_of(listing::WINDOW_SAYS.pick(Lang::En))[1],
            Part::Code("window_size")
        );
        assert_eq!(parts_of("q_i and W_O"), [Part::Plain("q_i and W_O")]);
        assert_eq!(parts_of(""), []);
    }

    #[test]
    fn what_is_filled_in_is_no_symbol() {
        let values = [
            ("row", "“q_i”"),
            ("share", "W_O"),
            ("part", ""),
            ("key", "P_K"),
        ];
        let said = sentence::LOSES.fill(Lang::En, &values);
        assert!(
            parts(&said).all(|part| matches!(part, Part::Plain(_))),
            "{said:?}"
        );
        assert_eq!(spoken(&said), written(&said));
    }

    #[test]
    fn each_place_has_its_form() {
        let text = controls::PROJECTED.pick(Lang::En);
        assert_eq!(spoken(text), "Projections W Q, W K, W V");
        assert_eq!(written(text), "Projections W_Q, W_K, W_V");
        assert_eq!(flat(controls::SCALE_HEAD.pick(Lang::En)), "1/√dₕ (usual)");
        assert_eq!(
            written(listing::KEYS.pick(Lang::En)),
            "Position bias of keys, pos_k"
        );
    }
}
