//! Everything the page says, in every language of `lang/`. Pure: sentences can be tested without a
//! page.
//!
//! The build makes one constant for each text (`build/words.rs`) with all languages side by side,
//! and stops if a language lacks one. A test finds texts that are never shown (`tests/words.rs`).

pub mod board;
pub mod check;
pub mod controls;
pub mod lessons;
pub mod listing;
pub mod number;
pub mod page;
mod plural;
pub mod sentence;
pub mod symbols;

use attnscope_scene::Lang;
use attnscope_scene::link_words::Word;

/// The texts of one section of the language files.
macro_rules! texts {
    ($section:literal) => {
        include!(concat!(env!("OUT_DIR"), "/words/", $section, ".rs"));
    };
}
pub(crate) use texts;

/// The properties of each language: tag, own name, numbers, quotes, forms of counted texts.
pub mod language {
    use super::{Lang, Text};

    texts!("language");
}

/// What went wrong and what to do about it, as sentences.
pub mod problems {
    use super::Text;

    texts!("problems");
}

/// Words of the side panels: cell, output, cost.
pub mod side {
    use super::Text;

    texts!("side");
}

const LANGUAGES: usize = <Lang as Word>::WORDS.len();

/// One text in every language. [`Text::fill`] replaces the placeholder `{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(&'static [&'static str; LANGUAGES]);

impl Text {
    /// The text in one language.
    pub const fn pick(self, lang: Lang) -> &'static str {
        self.0[lang as usize]
    }

    /// The text with its placeholders filled. One without a value stays visible as `{name}`, so
    /// that tests and readers notice it.
    pub fn fill(self, lang: Lang, values: &[(&str, &str)]) -> String {
        fill(self.pick(lang), values)
    }
}

/// A text that depends on a count, in every language: its forms by their plural category, "other" last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted(&'static [&'static [(&'static str, &'static str)]; LANGUAGES]);

impl Counted {
    /// The form for `n`, its placeholders filled as by [`Text::fill`].
    pub fn fill(self, lang: Lang, n: usize, values: &[(&str, &str)]) -> String {
        let forms = self.0[lang as usize];
        let category = plural::category(lang, n);
        let form = forms.iter().find(|(of, _)| *of == category);
        fill(form.or(forms.last()).map_or("", |(_, text)| text), values)
    }
}

fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let close = from.find('}').map_or(from.len(), |at| at + 1);
        let (place, after) = from.split_at(close);
        let name = place.trim_matches(['{', '}']);
        let value = values.iter().find(|(key, _)| *key == name);
        out.push_str(value.map_or(place, |(_, value)| value));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The language of the page for a tag (BCP 47) of a browser or link, if there is one.
pub fn known(tag: &str) -> Option<Lang> {
    let tag = tag.trim().to_ascii_lowercase();
    let fits = |start: &str| {
        tag.strip_prefix(start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let found = language::ACCEPTS.iter().find(|(start, _)| fits(start));
    found.map(|&(_, lang)| lang)
}

/// As [`known`]; the first language for every other tag.
pub fn language(tag: &str) -> Lang {
    known(tag).unwrap_or(Lang::WORDS[0].0)
}

/// A foreign text inside a sentence, isolated: its direction does not move the following text.
pub fn isolated(text: &str) -> String {
    if text.is_ascii() {
        text.to_owned()
    } else {
        format!("\u{2068}{text}\u{2069}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_unknown_ones_stay_visible() {
        let values = [("w", "5"), ("n", "24")];
        let filled = fill("{w} of {n}, {missing} {", &values);
        assert_eq!(filled, "5 of 24, {missing} {");
        assert_eq!(fill("{n} 中的 {w}", &values), "24 中的 5");
    }

    #[test]
    fn languages_by_tag() {
        assert_eq!(language("zh-CN"), Lang::Zh);
        assert_eq!(language("zh-Hant-TW"), Lang::Zh);
        assert_eq!(language(" ZH"), Lang::Zh);
        assert_eq!(language("en-GB"), Lang::En);
        assert_eq!(language("de"), Lang::En);
        assert_eq!(language("zhx"), Lang::En);
        assert_eq!(language(""), Lang::En);
    }

    #[test]
    fn a_count_chooses_its_form() {
        let said = |n: usize| {
            let values = [("n", &*n.to_string())];
            [Lang::En, Lang::Zh].map(|lang| sentence::EMPTY.fill(lang, n, &values))
        };
        assert!(said(1)[0].starts_with("1 row sees"), "{:?}", said(1));
        assert!(said(2)[0].starts_with("2 rows see"), "{:?}", said(2));
        assert!(said(1)[1].contains("1 行"));
    }

    #[test]
    fn a_foreign_text_is_isolated() {
        assert_eq!(isolated("it"), "it");
        assert_eq!(isolated("אבג"), "\u{2068}אבג\u{2069}");
    }
}
