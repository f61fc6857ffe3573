//! Everything the page says, in English and in 简体中文, side by side. Pure: no page is needed to
//! test a sentence.
//!
//! A text cannot exist in one language only, because [`texts!`] takes both; a test holds the
//! placeholders of both to each other. This is smaller than a translation library that brings
//! plural rules and calendars: the page needs neither.

pub mod board;
pub mod check;
pub mod controls;
pub mod lessons;
pub mod number;
pub mod page;
pub mod problems;
pub mod sentence;
pub mod side;

use crate::scene::Lang;

/// One text in both languages. `{name}` marks a place that [`Text::fill`] replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// English.
    pub en: &'static str,
    /// 简体中文.
    pub zh: &'static str,
}

impl Text {
    /// The text in one language.
    pub const fn pick(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }

    /// The text with its places filled. A place without a value stays visible as `{name}`, which
    /// tests and eyes catch.
    pub fn fill(self, lang: Lang, values: &[(&str, &str)]) -> String {
        let template = self.pick(lang);
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
}

/// Declares texts: `NAME: "English", "中文";`. Each becomes a constant documented by its English
/// words, and all of them together `ALL`, for the tests.
macro_rules! texts {
    ($($name:ident: $en:literal, $zh:literal;)+) => {
        $(
            #[doc = $en]
            pub const $name: $crate::words::Text = $crate::words::Text { en: $en, zh: $zh };
        )+
        /// Every text of this module, with its name.
        pub const ALL: &[(&str, $crate::words::Text)] = &[$((stringify!($name), $name)),+];
    };
}
pub(crate) use texts;

/// The language that a browser or link names: anything Chinese is Chinese, all else English.
pub fn language(tag: &str) -> Lang {
    if tag.trim().to_ascii_lowercase().starts_with("zh") {
        Lang::Zh
    } else {
        Lang::En
    }
}

/// The tag for the `lang` attribute.
pub const fn tag(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "en",
        Lang::Zh => "zh-Hans",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn places(text: &str) -> BTreeSet<&str> {
        text.split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}').map(|(name, _)| name))
            .collect()
    }

    fn all() -> impl Iterator<Item = &'static (&'static str, Text)> {
        [
            board::ALL,
            check::ALL,
            controls::ALL,
            lessons::ALL,
            page::ALL,
            problems::ALL,
            sentence::ALL,
            side::ALL,
        ]
        .into_iter()
        .flatten()
    }

    #[test]
    fn both_languages_have_the_same_places() {
        for (name, text) in all() {
            assert_eq!(places(text.en), places(text.zh), "{name}");
        }
    }

    #[test]
    fn no_text_is_empty_and_none_is_left_untranslated() {
        for (name, text) in all() {
            assert!(
                !text.en.trim().is_empty() && !text.zh.trim().is_empty(),
                "{name}"
            );
            // Prose has a space in English; its Chinese must hold a Chinese character.
            if text
                .en
                .split_whitespace()
                .filter(|w| w.chars().all(char::is_alphabetic))
                .count()
                > 2
            {
                assert!(
                    text.zh
                        .chars()
                        .any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)),
                    "{name} is not translated"
                );
            }
        }
    }

    #[test]
    fn places_are_filled_and_unknown_ones_stay_visible() {
        let text = Text {
            en: "{w} of {n}, {missing} {",
            zh: "{n} 中的 {w}",
        };
        let values = [("w", "5"), ("n", "24")];
        assert_eq!(text.fill(Lang::En, &values), "5 of 24, {missing} {");
        assert_eq!(text.fill(Lang::Zh, &values), "24 中的 5");
    }

    #[test]
    fn languages_by_tag() {
        assert_eq!(language("zh-CN"), Lang::Zh);
        assert_eq!(language("ZH"), Lang::Zh);
        assert_eq!(language("de"), Lang::En);
        assert_eq!(language(""), Lang::En);
    }
}
