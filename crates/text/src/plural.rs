//! Selects the form of a counted text for a number: the plural categories of Unicode's CLDR, from
//! the browser on the page and from ICU4X in native builds.

use attnscope_scene::Lang;

use super::language::TAG;

/// The CLDR category of `n` things in a language: "zero", "one", "two", "few", "many" or "other".
#[cfg(target_arch = "wasm32")]
pub(super) fn category(lang: Lang, n: usize) -> String {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use js_sys::Intl::PluralRules;
    use js_sys::{Array, Object};

    thread_local! {
        static RULES: RefCell<HashMap<&'static str, PluralRules>> = RefCell::default();
    }
    let tag = TAG.pick(lang);
    RULES.with_borrow_mut(|rules| {
        let rules = rules
            .entry(tag)
            .or_insert_with(|| PluralRules::new(&Array::of1(&tag.into()), &Object::new()));
        rules.select(n as f64).into()
    })
}

/// The CLDR category of `n` things in a language: "zero", "one", "two", "few", "many" or "other".
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn category(lang: Lang, n: usize) -> String {
    use icu_locale_core::Locale;
    use icu_plurals::{PluralCategory, PluralRules, PluralRulesOptions};

    let rules = Locale::try_from_str(TAG.pick(lang))
        .ok()
        .and_then(|locale| {
            PluralRules::try_new((&locale).into(), PluralRulesOptions::default()).ok()
        });
    let category = rules.map_or(PluralCategory::Other, |rules| rules.category_for(n));
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    }
    .to_owned()
}
