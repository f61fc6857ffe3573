//! Writes checked languages as Rust: the type `Lang`, the properties of each language, and a
//! constant for each text.

use std::fmt::Write;

use super::json::Node;
use super::symbols::marked;
use super::{FACTS, Language, OTHER, accepts, find, general};

/// The type `Lang`, in the order of the tables, and its words in links.
pub(super) fn lang(all: &[Language]) -> String {
    let mut out = String::from(
        "/// Languages of the page.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]\n\
         pub enum Lang {\n",
    );
    let mut words = String::new();
    for language in all {
        let (code, variant) = (&language.code, language.variant());
        let name = language.fact("name").map_or("", general);
        let _ = writeln!(
            out,
            "    #[doc = {name:?}]\n    #[serde(rename = {code:?})]\n    {variant},"
        );
        let _ = write!(words, "(Lang::{variant}, {code:?}), ");
    }
    let _ = writeln!(
        out,
        "}}\n\nimpl Word for Lang {{\n    const WORDS: &'static [(Self, &'static str)] = &[{words}];\n}}"
    );
    out
}

/// The properties of the languages.
pub(super) fn about(all: &[Language]) -> String {
    let mut out = String::new();
    for (name, _) in FACTS {
        let texts: Vec<_> = all.iter().filter_map(|l| l.fact(name)?.text()).collect();
        constant(&mut out, &name.to_uppercase(), &texts);
    }
    let mut tags: Vec<_> = all
        .iter()
        .flat_map(|l| accepts(l).into_iter().map(|tag| (tag, l.variant())))
        .collect();
    // The longest matching tag wins.
    tags.sort_by_key(|(tag, _)| (std::cmp::Reverse(tag.len()), tag.clone()));
    let _ = writeln!(out, "/// Beginnings of language tags, longest first.");
    let _ = writeln!(out, "pub const ACCEPTS: &[(&str, Lang)] = &[");
    for (tag, variant) in tags {
        let _ = writeln!(out, "    ({tag:?}, Lang::{variant}),");
    }
    out.push_str("];\n");
    out
}

fn constant(out: &mut String, name: &str, texts: &[&str]) {
    let about = texts.first().copied().unwrap_or_default();
    let texts: Vec<_> = texts.iter().map(|text| marked(text)).collect();
    let _ = writeln!(
        out,
        "#[doc = {:?}]\npub const {name}: Text = Text(&{texts:?});",
        format!("“{about}”")
    );
}

/// The texts of one section.
pub(super) fn constants(all: &[Language], section: &str, texts: &Node) -> String {
    let mut out = String::new();
    for (name, model) in texts.members() {
        let nodes: Vec<_> = all.iter().filter_map(|l| find(l, section, name)).collect();
        if model.text().is_some() {
            let texts: Vec<_> = nodes.iter().map(|node| general(node)).collect();
            constant(&mut out, name, &texts);
            continue;
        }
        let _ = writeln!(
            out,
            "#[doc = {:?}]\npub const {name}: Counted = Counted(&[",
            general(model)
        );
        for (language, node) in all.iter().zip(nodes) {
            let mut categories = language.categories();
            categories.push(OTHER);
            let form = |&category: &&'static str| {
                let text = node.get(category).map_or(general(node), general);
                (category, marked(text))
            };
            let forms: Vec<_> = categories.iter().map(form).collect();
            let _ = writeln!(out, "    &{forms:?},");
        }
        out.push_str("]);\n");
    }
    out
}
