//! Every text of the page is used somewhere, and none is spelled out beside the tables.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
}

/// The names that `texts! { NAME: "…", "…"; }` declares.
fn declared(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let (name, text) = line.trim().split_once(": \"")?;
        let constant = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        (text.ends_with("\";") && name.chars().all(constant)).then_some(name)
    })
}

/// Whether `name` stands in `source` as a word of its own, not as a declaration.
fn uses(source: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let after = &source[at + name.len()..];
        !before.is_some_and(word)
            && !after.chars().next().is_some_and(word)
            && !after.starts_with(": \"")
    })
}

#[test]
fn no_text_is_left_over() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let texts: Vec<String> = paths
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let names: Vec<&str> = texts.iter().flat_map(|text| declared(text)).collect();
    assert!(names.len() > 200, "the tables were found");
    let unused: Vec<_> = names
        .iter()
        .filter(|name| !texts.iter().any(|text| uses(text, name)))
        .collect();
    assert!(unused.is_empty(), "no sentence shows {unused:?}");
}

#[test]
fn a_left_over_text_would_be_found() {
    let source = "    ONE: \"a\", \"b\";\n    ONE_MORE: \"a\", \"b\";\n t(words::ONE_MORE)";
    assert_eq!(declared(source).collect::<Vec<_>>(), ["ONE", "ONE_MORE"]);
    assert!(uses(source, "ONE_MORE") && !uses(source, "ONE"));
}
