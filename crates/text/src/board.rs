//! Words of the map, its table and the strip.

use super::{Text, number, texts};
use attnscope_scene::Lang;

texts!("board");

/// Why a cell has a weight or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// The query sees the key.
    Key,
    /// The key is masked for this query.
    Masked,
    /// The row is fully masked.
    Nothing,
}

impl Sees {
    /// For a cell that is visible or not, in a row with `keys` visible keys.
    pub const fn of(visible: bool, keys: usize) -> Self {
        match (visible, keys) {
            (_, 0) => Self::Nothing,
            (true, _) => Self::Key,
            (false, _) => Self::Masked,
        }
    }
}

/// A number, or words for NaN and infinity.
pub fn value(lang: Lang, value: f64) -> String {
    if value.is_finite() {
        number::weight(lang, value)
    } else {
        NOT_A_NUMBER.pick(lang).to_owned()
    }
}

/// The text in a cell of the table: its number, or why it has none. A fully masked row can still
/// have weights: 1/L where the mask is −1e9.
pub fn cell(lang: Lang, sees: Sees, number: f64) -> String {
    match sees {
        Sees::Key => value(lang, number),
        Sees::Masked => MASKED.pick(lang).to_owned(),
        Sees::Nothing if number == 0.0 => NO_KEY.pick(lang).to_owned(),
        Sees::Nothing => format!("{} {}", NO_KEY.pick(lang), value(lang, number)),
    }
}

/// The text about a cell after its tokens.
pub fn spoken(lang: Lang, sees: Sees, weight: f64, score: f64) -> String {
    let text = match sees {
        Sees::Key => READOUT_VALUE,
        Sees::Masked => READOUT_MASKED,
        Sees::Nothing => READOUT_NO_KEY,
    };
    let (a, r) = (value(lang, weight), value(lang, score));
    text.fill(lang, &[("a", &a), ("r", &r)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nothing_zero_masked_and_not_a_number_are_told_apart_in_words() {
        for lang in [Lang::En, Lang::Zh] {
            let kinds = [
                (Sees::Key, 0.0),
                (Sees::Key, f64::NAN),
                (Sees::Masked, 0.0),
                (Sees::Nothing, 0.0),
                (Sees::Nothing, 0.25),
            ];
            let cells: BTreeSet<_> = kinds.map(|(sees, a)| cell(lang, sees, a)).into();
            let lines: BTreeSet<_> = kinds.map(|(sees, a)| spoken(lang, sees, a, a)).into();
            assert_eq!((cells.len(), lines.len()), (5, 5), "{cells:?} {lines:?}");
        }
    }

    #[test]
    fn a_row_without_keys_is_one_whatever_its_cells_say() {
        assert_eq!(Sees::of(true, 3), Sees::Key);
        assert_eq!(Sees::of(false, 3), Sees::Masked);
        assert_eq!(Sees::of(false, 0), Sees::Nothing);
        assert_eq!(cell(Lang::En, Sees::Nothing, 1.0 / 24.0), "no key 0.042");
    }
}
