//! The parameters of a link, one row each: name, legal range, how it is written and read, what it stands
//! for. The writer, the reader, the way back into legal ranges and the table in the README all come
//! from [`KEYS`]; what only the README says stays out of the page.

use super::link_values::{
    cell_text, finite, read_cell, read_rect, read_scale, read_show, read_source, real, real_text,
    rect_text, scale_text, show_text, source_text, whole,
};
use super::link_words::Word;
use super::sanitize::Fix;
use super::warning::Reason;
use super::{MAX_SEQ_LEN, Scale, Scene, Source};

/// One parameter of a link.
pub struct Key {
    /// Name before the `=`.
    pub name: &'static str,
    /// What it stands for, for the README.
    #[cfg(not(target_arch = "wasm32"))]
    pub about: &'static str,
    /// What may stand after the `=`, for the README.
    #[cfg(not(target_arch = "wasm32"))]
    pub values: fn() -> String,
    /// The value of a Scene as text.
    pub write: fn(&Scene) -> String,
    /// Smallest and largest legal value of a number.
    pub range: Option<(f64, f64)>,
    /// Moves the value of a Scene into its legal range.
    pub fix: fn(&mut Scene, &mut Fix),
    /// Puts the value of a text into a Scene. On `Err` the Scene holds a legal value all the same:
    /// the default, or the nearest legal number.
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

/// A range as the README writes it.
#[cfg(not(target_arch = "wasm32"))]
fn span((min, max): (f64, f64)) -> String {
    format!("{min} – {max}")
}

/// Largest magnitude of amplitudes, heights and slopes: with it every score of SPEC 1–3 stays a finite
/// f32.
pub const MAX_FACTOR: f32 = 1000.0;

/// Largest magnitude of the free scale, and of a P_K of its own at every position. Scores that differ
/// by thousands within a row cannot be held to SPEC 7 in f32 where two keys are almost equal: with
/// these, no product of both is as large (`tests/legal_ranges.rs`). What all keys share, as a shared
/// P_K, may be [`MAX_FACTOR`] large: it is taken away before scores are rounded.
const MAX_SCALE: f64 = 10.0;
const MAX_POSITION_KEY: f64 = 5.0;

const L: f64 = MAX_SEQ_LEN as f64;
const F: f64 = MAX_FACTOR as f64;
const SEED: f64 = u32::MAX as f64;

/// Legal ranges of the parts of compound parameters.
const PARTS: &[(&str, f64, f64)] = &[
    ("src.layer", 0.0, 5.0),
    ("src.len", 1.0, L),
    ("src.seed", 0.0, SEED),
    ("scale", -MAX_SCALE, MAX_SCALE),
    ("pk", -F, F),
    ("pk.position", -MAX_POSITION_KEY, MAX_POSITION_KEY),
    ("rect.at", 0.0, L - 1.0),
    ("rect.size", 1.0, L),
    ("cell.at", 0.0, L - 1.0),
];

/// The legal range of a parameter, or of a part of a compound one. Of an unknown name only 0 is legal:
/// nothing that the table does not know is unbounded. The layer on screen limits heads, ranks and cells
/// further (see `limits`).
pub fn range(name: &str) -> (f64, f64) {
    let part = PARTS.iter().find(|(part, ..)| *part == name);
    let part = part.map(|&(_, min, max)| (min, max));
    let whole = || KEYS.iter().find(|key| key.name == name)?.range;
    part.or_else(whole).unwrap_or_default()
}

/// The legal range of the amplitude of P_K: a shared one may be larger than one per position.
pub fn key_bias_range(per_position: bool) -> (f64, f64) {
    range(if per_position { "pk.position" } else { "pk" })
}

/// A parameter whose text is made and read by the given functions.
macro_rules! key {
    ($name:literal, $about:literal, $values:literal, $write:expr, $read:expr, $fix:expr) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || $values.to_owned(),
            range: None,
            fix: $fix,
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
            range: None,
            fix: |_, _| {},
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
    ($name:literal, $min:expr, $max:expr, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || span(($min, $max)),
            range: Some(($min, $max)),
            fix: |s, fix| fix.whole($name, &mut s.$($field).+),
            write: |s| s.$($field).+.to_string(),
            read: |s, t| whole($name, t, &mut s.$($field).+),
        }
    };
}
/// A real number.
macro_rules! real {
    ($name:literal, $min:expr, $max:expr, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || span(($min, $max)),
            range: Some(($min, $max)),
            fix: |s, fix| fix.real($name, &mut s.$($field).+, Scene::default().$($field).+),
            write: |s| real_text(s.$($field).+),
            read: |s, t| real($name, t, &mut s.$($field).+),
        }
    };
}
/// A whole number or a word for its absence.
macro_rules! optional {
    ($name:literal, $none:literal, $min:expr, $max:expr, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || format!("{}, {}", $none, span(($min, $max))),
            range: Some(($min, $max)),
            fix: |s, fix| fix.optional($name, &mut s.$($field).+),
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
/// A word or a word for its absence.
macro_rules! optional_word {
    ($name:literal, $none:literal, $about:literal, $($field:ident).+) => {
        Key {
            name: $name,
            #[cfg(not(target_arch = "wasm32"))]
            about: $about,
            #[cfg(not(target_arch = "wasm32"))]
            values: || format!("{}, {}", $none, words_or_none(|s| s.$($field).+)),
            range: None,
            fix: |_, _| {},
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

/// Every parameter, in the order in which links have them.
pub const KEYS: &[Key] = &[
    key!(
        "src",
        "the layer: of the shipped model (0–5), or made from a seed",
        "sentence.LAYER, paragraph.LAYER, page.LAYER; random.LENGTH.SEED, repeated.…, local.…, longrange.…",
        source_text,
        read_source,
        |s, fix| match &mut s.source {
            Source::MiniLm { layer, .. } => fix.whole("src.layer", layer),
            Source::Synthetic { seq_len, .. } => fix.whole("src.len", seq_len),
        }
    ),
    word!(
        "proj",
        "0: projections skipped, q = k = v = x split into heads",
        projected
    ),
    word!("m", "mechanism", mechanism),
    word!("causal", "1: no key after the query", causal),
    word!("conv", "what w means", window.convention),
    whole!("w", 0.0, L, "window size", window.size),
    optional!(
        "left",
        "all",
        -L,
        L,
        "reach to the left when `conv=explicit`; negative excludes the token itself",
        window.left
    ),
    optional!(
        "right",
        "all",
        -L,
        L,
        "reach to the right when `conv=explicit`",
        window.right
    ),
    whole!(
        "dil",
        1.0,
        L,
        "dilation: only offsets divisible by it",
        window.dilation
    ),
    whole!(
        "sinks",
        0.0,
        L,
        "so many first keys stay visible",
        window.sinks
    ),
    whole!(
        "globals",
        0.0,
        L,
        "so many first tokens see and are seen by all",
        window.globals
    ),
    word!("inwin", "1: CJAR inside the window", windowed),
    whole!("pad", 0.0, L, "so many last tokens are padding", padding),
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
        read_scale,
        |s, fix| {
            if let Scale::Free(value) = &mut s.scale {
                fix.real("scale", value, 1.0);
            }
        }
    ),
    word!("reading", "how the CJAR formula is read", cjar.reading),
    optional!(
        "seg",
        "all",
        1.0,
        L,
        "keys per segment of the normalisation",
        cjar.segment
    ),
    key!(
        "pk",
        "amplitude of P_K",
        "-5 – 5; with `pk.each=0` -1000 – 1000",
        |s| real_text(s.cjar.p_k.amplitude),
        // How large it may be depends on `pk.each`, which may come later.
        |s, t| finite(t, &mut s.cjar.p_k.amplitude),
        |s, fix| {
            let p_k = &mut s.cjar.p_k;
            let limits = key_bias_range(p_k.per_position);
            fix.real_within("pk", limits, &mut p_k.amplitude, 0.0);
        }
    ),
    word!("pk.shape", "shape of P_K", cjar.p_k.shape),
    word!(
        "pk.each",
        "1: one row per position, 0: shared",
        cjar.p_k.per_position
    ),
    whole!(
        "pk.seed",
        0.0,
        SEED,
        "seed of P_K, or its hot dimension",
        cjar.p_k.seed
    ),
    real!("pv", -F, F, "amplitude of P_V", cjar.p_v.amplitude),
    word!("pv.shape", "shape of P_V", cjar.p_v.shape),
    word!(
        "pv.each",
        "1: one row per position, 0: shared",
        cjar.p_v.per_position
    ),
    whole!(
        "pv.seed",
        0.0,
        SEED,
        "seed of P_V, or its hot dimension",
        cjar.p_v.seed
    ),
    real!("s", -F, F, "amplitude of the curve s", cjar.s.amplitude),
    real!(
        "s.slope",
        -F,
        F,
        "s: per token, rising to the right",
        cjar.s.slope
    ),
    real!(
        "s.decay",
        -F,
        F,
        "s: per token of distance, falling",
        cjar.s.decay
    ),
    real!("s.wave", -F, F, "s: height of the cosine", cjar.s.wave),
    real!(
        "s.period",
        1.0 / 128.0,
        1e6,
        "s: period of the cosine in tokens",
        cjar.s.period
    ),
    real!("s.bump", -F, F, "s: height of the bump", cjar.s.bump),
    real!("s.at", -L, L, "s: offset of the bump", cjar.s.at),
    real!(
        "s.width",
        1.0 / 128.0,
        1e6,
        "s: width of the bump in tokens",
        cjar.s.width
    ),
    word!(
        "s.dense",
        "1: a random s for every head, query and key instead of the curve",
        cjar.s.dense
    ),
    whole!("s.seed", 0.0, SEED, "seed of the random s", cjar.s.seed),
    optional!(
        "rho",
        "full",
        1.0,
        16_384.0,
        "rank of the score",
        cjar.score_rank
    ),
    optional!(
        "r",
        "full",
        1.0,
        16_384.0,
        "rank of the output projection",
        cjar.out_rank
    ),
    optional!(
        "head",
        "auto",
        0.0,
        1023.0,
        "head, from 0; auto: 8, or the last where the layer has fewer",
        view.head
    ),
    word!("map", "what the map shows", view.quantity),
    key!(
        "rect",
        "visible part of the map",
        "all, ROW.COLUMN.ROWS.COLUMNS",
        rect_text,
        read_rect,
        |s, fix| s.view.rect.iter_mut().for_each(|rect| fix.rect(rect))
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
        read_cell,
        |s, fix| {
            if let Some((row, col)) = &mut s.view.cell {
                fix.whole("cell.at", row);
                fix.whole("cell.at", col);
            }
        }
    ),
    Key {
        // The same table however many languages there are.
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
        read_show,
        |s, fix| fix.repeated("show", &mut s.show)
    ),
];
