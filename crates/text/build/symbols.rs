//! Symbols of the texts: a translator writes `W_O`, a reader sees a subscript. Symbols are marked
//! once, before the crate is compiled, so that inserted text (tokens, names of files and of link
//! parameters) is never mistaken for one.

/// Starts a subscript; `src/symbols.rs` reads it.
const BELOW: char = '\u{1}';
/// Starts a code name.
const CODE: char = '\u{2}';
/// Ends either.
const END: char = '\u{3}';

/// Longest subscript: `W_O` and `r_ij` are symbols, `d_model` is code.
const LONGEST: usize = 3;

/// A text with its symbols (`W_O`, `k'_j`) and its code names (`window_size`) marked.
pub fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '{' {
            rest.find('}').map_or(rest.len(), |at| at + 1)
        } else if let Some((base, below)) = symbol(rest) {
            let (base, end) = (&rest[..base], base + 1 + below);
            out.push_str(base);
            out.push(BELOW);
            out.push_str(&rest[base.len() + 1..end]);
            out.push(END);
            rest = &rest[end..];
            continue;
        } else {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if rest[..word].trim_matches('_').contains('_') {
                out.push(CODE);
                out.push_str(&rest[..word]);
                out.push(END);
                rest = &rest[word..];
                continue;
            }
            word.max(first.len_utf8())
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Bytes of the letter (with its prime) and of the subscript of a symbol at the start of a text.
fn symbol(text: &str) -> Option<(usize, usize)> {
    let letter = text
        .chars()
        .next()
        .filter(|c| is_word(*c) && *c != '_' && !c.is_ascii_digit())?;
    let after = &text[letter.len_utf8()..];
    let below = after
        .strip_prefix(['\'', '′'])
        .unwrap_or(after)
        .strip_prefix('_')?;
    let length = below.find(|c: char| !is_word(c)).unwrap_or(below.len());
    let plain = below[..length].bytes().all(|b| b.is_ascii_alphanumeric());
    (plain && (1..=LONGEST).contains(&length)).then(|| (text.len() - below.len() - 1, length))
}

/// Whether a character can be part of a word of code or mathematics.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || ('α'..='ω').contains(&c)
}
