//! The parameters of a link, one line each: name, writer, reader. Links and the table in the README
//! both come from [`KEYS`]; texts that only the README has are not in the page.

use super::Scene;
use super::link_values::{
    cell_text, finite, read_cell, read_rect, read_scale, read_show, read_source, real, real_text,
    rect_text, scale_text, show_text, source_text, whole,
};
use super::link_words::Word;
#[cfg(not(target_arch = "wasm32"))]
use super::sanitize::range;
use super::warning::Reason;

/// One parameter of a link.
pub struct Key {
    /// Name before the `=`.
    pub name: &'static str,
    /// Its meaning, for the README.
    #[cfg(not(target_arch = "wasm32"))]
    pub about: &'static str,
    /// The possible text after the `=`, for the README.
    #[cfg(not(target_arch = "wasm32"))]
    pub values: fn() -> String,
    /// The value of a Scene as text.
    pub write: fn(&Scene) -> String,
    /// Reads a text into a Scene. On `Err` the Scene still has a legal value: the default, or the
    /// nearest legal number.
    pub read: fn(&mut Scene, &str) -> Result<(), Reason>,
}

/// The words of the choice that `_field` reads.
#[cfg(not(target_arch = "wasm32"))]
fn words<T: Word>(_field: fn(&Scene) -> T) -> String {
    let words: Vec<_> = T::WORDS.iter().map(|&(_, word)| word).collect();
    words.join(", ")
}

/// The words of the optional choice that `_field` reads.
#[cfg(not(target_arch = "wasm32"))]
fn words_or_none<T: Word>(_field: fn(&Scene) -> Option<T>) -> String {
    let words: Vec<_> = T::WORDS.iter().map(|&(_, word)| word).collect();
    words.join(", ")
}

/// The legal range of the parameter `name`.
#[cfg(not(target_arch = "wasm32"))]
fn span(name: &str) -> String {
    let (min, max) = range(name);
    format!("{min} – {max}")
}

/// A parameter with its own writer and reader.
macro_rules! key {
    ($name:literal, $about:literal, $values:literal, $write:expr, $read:expr) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || $values.to_owned(),
            write: $write,
            read: $read,
        }
    };
}
/// A choice between words.
macro_rules! word {
    ($name:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || words(|s| s.$($field).+),
            write: |s| s.$($field).+.word().to_owned(),
            read: |s, t| {
                s.$($field).+ = Word::from_word(t).ok_or(Reason::UnknownWord)?;
                Ok(())
            },
        }
    };
}
/// A whole number.
macro_rules! whole {
    ($name:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || span($name),
            write: |s| s.$($field).+.to_string(),
            read: |s, t| whole($name, t, &mut s.$($field).+),
        }
    };
}
/// A real number.
macro_rules! real {
    ($name:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || span($name),
            write: |s| real_text(s.$($field).+),
            read: |s, t| real($name, t, &mut s.$($field).+),
        }
    };
}
/// A whole number, or a word for none.
macro_rules! optional {
    ($name:literal, $none:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || format!("{}, {}", $none, span($name)),
            write: |s| s.$($field).+.map_or($none.to_owned(), |n| n.to_string()),
            read: |s, t| {
                if t == $none {
                    s.$($field).+ = None;
                    return Ok(());
                }
                let mut number = 0;
                let result = whole($name, t, &mut number);
                if result != Err(Reason::NotANumber) {
                    s.$($field).+ = Some(number);
                }
                result
            },
        }
    };
}
/// A word, or a word for none.
macro_rules! optional_word {
    ($name:literal, $none:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || format!("{}, {}", $none, words_or_none(|s| s.$($field).+)),
            write: |s| s.$($field).+.map_or($none, Word::word).to_owned(),
            read: |s, t| {
                s.$($field).+ = if t == $none {
                    None
                } else {
                    Some(Word::from_word(t).ok_or(Reason::UnknownWord)?)
                };
                Ok(())
            },
        }
    };
}

/// Every parameter, in link order.
pub const KEYS: &[Key] = &[
    key!(
        "src",
        "the layer: of the shipped model (0–5), or made from a seed",
        "sentence.LAYER, paragraph.LAYER, page.LAYER; random.LENGTH.SEED, repeated.…, local.…, longrange.…",
        source_text,
        read_source
    ),
    word!(
        "proj",
        "0: projections skipped, q = k = v = x split into heads",
        projected
    ),
    word!("m", "mechanism", mechanism),
    word!("causal", "1: no key after the query", causal),
    word!("conv", "what w means", window.convention),
    whole!("w", "window size", window.size),
    optional!(
        "left",
        "all",
        "reach to the left when `conv=explicit`; negative excludes the token itself",
        window.left
    ),
    optional!(
        "right",
        "all",
        "reach to the right when `conv=explicit`",
        window.right
    ),
    whole!(
        "dil",
        "dilation: only offsets divisible by it",
        window.dilation
    ),
    whole!("sinks", "so many first keys stay visible", window.sinks),
    whole!(
        "globals",
        "so many first tokens see and are seen by all",
        window.globals
    ),
    word!("inwin", "1: CJAR inside the window", windowed),
    whole!("pad", "so many last tokens are padding", padding),
    word!(
        "empty",
        "row without keys: 0, or the mean of all values (a mask of −1e9)",
        empty
    ),
    key!(
        "scale",
        "factor of q·k: head = 1/√d_h, model = 1/√d, or a number",
        "head, model, -10 – 10",
        scale_text,
        read_scale
    ),
    word!("reading", "how the CJAR formula is read", cjar.reading),
    optional!(
        "seg",
        "all",
        "keys per segment of the normalisation",
        cjar.segment
    ),
    key!(
        "pk",
        "amplitude of P_K",
        "-5 – 5; with `pk.each=0` -1000 – 1000",
        |s| real_text(s.cjar.p_k.amplitude),
        // Its limit depends on `pk.each`, which may come later: `sanitize` applies it.
        |s, t| finite(t, &mut s.cjar.p_k.amplitude)
    ),
    word!("pk.shape", "shape of P_K", cjar.p_k.shape),
    word!(
        "pk.each",
        "1: one row per position, 0: shared",
        cjar.p_k.per_position
    ),
    whole!(
        "pk.seed",
        "seed of P_K, or its hot dimension",
        cjar.p_k.seed
    ),
    real!("pv", "amplitude of P_V", cjar.p_v.amplitude),
    word!("pv.shape", "shape of P_V", cjar.p_v.shape),
    word!(
        "pv.each",
        "1: one row per position, 0: shared",
        cjar.p_v.per_position
    ),
    whole!(
        "pv.seed",
        "seed of P_V, or its hot dimension",
        cjar.p_v.seed
    ),
    real!("s", "amplitude of the curve s", cjar.s.amplitude),
    real!("s.slope", "s: per token, rising to the right", cjar.s.slope),
    real!("s.decay", "s: per token of distance, falling", cjar.s.decay),
    real!("s.wave", "s: height of the cosine", cjar.s.wave),
    real!(
        "s.period",
        "s: period of the cosine in tokens",
        cjar.s.period
    ),
    real!("s.bump", "s: height of the bump", cjar.s.bump),
    real!("s.at", "s: offset of the bump", cjar.s.at),
    real!("s.width", "s: width of the bump in tokens", cjar.s.width),
    word!(
        "s.dense",
        "1: a random s for every head, query and key instead of the curve",
        cjar.s.dense
    ),
    whole!("s.seed", "seed of the random s", cjar.s.seed),
    optional!("rho", "full", "rank of the score", cjar.score_rank),
    optional!("r", "full", "rank of the output projection", cjar.out_rank),
    optional!(
        "head",
        "auto",
        "head, from 0; auto: 8, or the last where the layer has fewer",
        view.head
    ),
    word!("map", "what the map shows", view.quantity),
    key!(
        "rect",
        "visible part of the map",
        "all, ROW.COLUMN.ROWS.COLUMNS",
        rect_text,
        read_rect
    ),
    word!(
        "range",
        "colour range: of the picture, or 0 to 1",
        view.range
    ),
    optional_word!(
        "color",
        "auto",
        "colour scale; auto: log for weights of more than 64 tokens unless they can be negative, else linear",
        view.color
    ),
    word!("panel", "side panel", view.panel),
    key!(
        "cell",
        "locked cell",
        "none, QUERY.KEY",
        cell_text,
        read_cell
    ),
    Key {
        // The table is the same however many languages there are.
        #[cfg(not(target_arch = "wasm32"))]
        values: || "auto, or the name of a file in `lang/`, as en or zh".to_owned(),
        ..optional_word!("lang", "auto", "language", lang)
    },
    optional_word!("theme", "auto", "theme", theme),
    optional_word!(
        "lesson",
        "none",
        "starter scene that this one began as",
        lesson
    ),
    key!(
        "show",
        "controls of an embed; empty: those of the mechanism",
        "several of source, heads, mechanism, window, bias, rank, view, with commas",
        show_text,
        read_show
    ),
];
