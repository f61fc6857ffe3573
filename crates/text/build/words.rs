//! Compares the languages of the page, `lang/*.json`, and writes them as Rust. English defines the
//! texts; every other file must have exactly the same ones.

#[path = "emit.rs"]
mod emit;
#[path = "json.rs"]
pub mod json;
#[path = "symbols.rs"]
pub mod symbols;

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use json::Node;

/// The language that defines the texts; also the fallback language.
pub const FIRST: &str = "en";
/// The properties of a language.
const ABOUT: &str = "language";
/// Shown before any Rust runs: `build/start.mjs` puts it into the pages and `boot.js`.
const START: &str = "start";

/// Properties of a language; each is one text. `{n}` and `{x}` are placeholders for a number or
/// token.
const FACTS: [(&str, &str); 12] = [
    ("tag", ""),
    ("name", ""),
    ("short", ""),
    ("switch", ""),
    ("direction", ""),
    ("decimal", ""),
    ("group", ""),
    ("percent", "n"),
    ("quote", "x"),
    ("list", ""),
    ("colon", ""),
    ("gap", ""),
];
/// Plural categories of CLDR; "other" is the rest.
const CATEGORIES: [&str; 5] = ["zero", "one", "two", "few", "many"];
const OTHER: &str = "other";

/// One language: its name in links, which is its file name, and the content of its file.
struct Language {
    code: String,
    words: Node,
}

/// Name and text of every language file in `dir`.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn files(dir: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|end| end == "json") {
            files.push((name.into_owned(), fs::read_to_string(&path)?));
        }
    }
    Ok(files)
}

impl Language {
    fn read(code: &str, text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !code.starts_with(|c: char| c.is_ascii_lowercase()) || !code.chars().all(plain) {
            return Err(format!(
                "lang/{code}.json: a name has small letters, digits and -"
            ));
        }
        let words = serde_json::from_str(text).map_err(|why| format!("lang/{code}.json: {why}"))?;
        let code = code.to_owned();
        Ok(Self { code, words })
    }

    /// `pt-br` → `PtBr`.
    fn variant(&self) -> String {
        let big = |part: &str| part[..1].to_uppercase() + &part[1..];
        self.code
            .split('-')
            .filter(|p| !p.is_empty())
            .map(big)
            .collect()
    }

    fn fact(&self, name: &str) -> Option<&Node> {
        self.words.get(ABOUT)?.get(name)
    }

    /// The plural categories that its counted texts use, without "other".
    fn categories(&self) -> Vec<&'static str> {
        let used = |category: &&str| self.texts().any(|(.., node)| node.get(category).is_some());
        CATEGORIES.into_iter().filter(used).collect()
    }

    /// Everything except its properties: section, name, node.
    fn texts(&self) -> impl Iterator<Item = (&str, &str, &Node)> {
        let sections = self.words.members().iter();
        sections
            .filter(|(name, _)| name != ABOUT)
            .flat_map(|(section, texts)| {
                texts
                    .members()
                    .iter()
                    .map(move |(name, node)| (&**section, &**name, node))
            })
    }
}

/// The Rust of several languages, given as (name, JSON): (file name, text) of every file to write.
///
/// # Errors
/// One line for every problem, each with the file and the name of the text.
pub fn generate(files: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    let mut wrong = Vec::new();
    for (code, text) in files {
        match Language::read(code, text) {
            Ok(language) => all.push(language),
            Err(why) => wrong.push(why),
        }
    }
    all.sort_by_key(|language| (language.code != FIRST, language.code.clone()));
    let Some((first, others)) = all.split_first().filter(|(first, _)| first.code == FIRST) else {
        wrong.push(format!("lang/{FIRST}.json is missing or broken"));
        return Err(wrong.join("\n"));
    };
    for language in &all {
        let mut report = |what: String| wrong.push(format!("lang/{}.json: {what}", language.code));
        check_facts(language, &mut report);
        for (section, name, node) in language.texts() {
            if let Err(why) = check_text(language, first, section, name, node) {
                report(format!("{section}.{name} {why}"));
            }
        }
    }
    for language in others {
        for (section, name, _) in first.texts() {
            if find(language, section, name).is_none() {
                wrong.push(format!(
                    "lang/{}.json: {section}.{name} is missing",
                    language.code
                ));
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let mut out = vec![
        ("lang.rs".to_owned(), emit::lang(&all)),
        ("language.rs".to_owned(), emit::about(&all)),
    ];
    for (section, texts) in first.words.members() {
        if section != ABOUT && section != START {
            out.push((
                format!("{section}.rs"),
                emit::constants(&all, section, texts),
            ));
        }
    }
    Ok(out)
}

fn find<'a>(language: &'a Language, section: &str, name: &str) -> Option<&'a Node> {
    language.words.get(section)?.get(name)
}

fn check_facts(language: &Language, report: &mut impl FnMut(String)) {
    for (name, place) in FACTS {
        match language.fact(name).and_then(Node::text) {
            None => report(format!("{ABOUT}.{name} is missing or no text")),
            Some(text) if !place.is_empty() && places(text) != Ok(BTreeSet::from([place])) => {
                report(format!("{ABOUT}.{name} needs the place {{{place}}}"));
            }
            Some(_) => {}
        }
    }
    let direction = language.fact("direction").and_then(Node::text);
    if !matches!(direction, Some("ltr" | "rtl")) {
        report(format!("{ABOUT}.direction is neither ltr nor rtl"));
    }
    if accepts(language).is_empty() {
        report(format!("{ABOUT}.accepts is no list of language tags"));
    }
    for (name, _) in language.words.get(ABOUT).map_or(&[][..], Node::members) {
        if !FACTS.iter().any(|(fact, _)| fact == name) && name != "accepts" {
            report(format!("{ABOUT}.{name} means nothing"));
        }
    }
}

/// The browser tags that select it, in lower case.
fn accepts(language: &Language) -> Vec<String> {
    let Some(Node::List(tags)) = language.fact("accepts") else {
        return Vec::new();
    };
    tags.iter()
        .filter_map(Node::text)
        .map(str::to_lowercase)
        .collect()
}

fn check_text(
    language: &Language,
    first: &Language,
    section: &str,
    name: &str,
    node: &Node,
) -> Result<(), String> {
    let Some(model) = find(first, section, name) else {
        return Err(format!("is not in lang/{FIRST}.json"));
    };
    let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(capital) {
        return Err("is no name: capital letters, digits and _".to_owned());
    }
    let counted = matches!(model, Node::Object(_));
    if counted && section == START {
        return Err("cannot be counted before any Rust runs".to_owned());
    }
    let mut forms = vec![];
    match node {
        Node::Text(text) => forms.push(text),
        Node::Object(members) if counted => {
            for (category, _) in members {
                if category != OTHER && !CATEGORIES.contains(&&**category) {
                    return Err(format!(
                        "has the form “{category}”, which CLDR does not know"
                    ));
                }
            }
            let mut wanted = language.categories();
            wanted.push(OTHER);
            for category in &wanted {
                match node.get(category) {
                    Some(Node::Text(text)) => forms.push(text),
                    _ => return Err(format!("has no form “{category}”")),
                }
            }
        }
        _ => return Err("is not a text, or counted where English is not".to_owned()),
    }
    let wanted = places(general(model))?;
    let (rest, other) = forms.split_last().map_or((&[][..], ""), |(o, r)| (r, &**o));
    let got = places(other)?;
    if got != wanted {
        return Err(format!(
            "has the places {got:?} where English has {wanted:?}"
        ));
    }
    for form in rest {
        // “one token” needs no number.
        if !places(form)?.is_subset(&wanted) {
            return Err(format!("has places that English has not: “{form}”"));
        }
    }
    for form in &forms {
        if form.trim().is_empty() {
            return Err("is empty".to_owned());
        }
    }
    let word = |w: &&str| w.chars().all(char::is_alphabetic);
    let prose = other.split_whitespace().filter(word).count() > 2;
    if language.code != FIRST && prose && other == general(model) {
        return Err("is still English".to_owned());
    }
    Ok(())
}

/// The text, or the form "other" of a counted text.
fn general(node: &Node) -> &str {
    let text = node.text().or_else(|| node.get(OTHER)?.text());
    text.unwrap_or_default()
}

/// The names of the placeholders in a text.
fn places(text: &str) -> Result<BTreeSet<&str>, String> {
    let mut found = BTreeSet::new();
    for part in text.split('{').skip(1) {
        let (name, _) = part
            .split_once('}')
            .ok_or_else(|| format!("has a {{ that nothing closes: “{text}”"))?;
        found.insert(name);
    }
    Ok(found)
}
