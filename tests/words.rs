//! A language is one file: what `build/words.rs` makes of it, and what it rejects.
#![allow(clippy::unwrap_used)]

#[path = "../crates/text/build/words.rs"]
#[allow(dead_code)]
mod words;

use words::generate;
use words::json::Node;

fn shipped() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/lang");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let code = path.file_stem().unwrap().to_string_lossy().into_owned();
            (code, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn english() -> Node {
    let files = shipped();
    let (_, text) = files.iter().find(|(code, _)| code == "en").unwrap();
    serde_json::from_str(text).unwrap()
}

fn json(node: &Node) -> String {
    let all = |parts: Vec<String>| parts.join(",\n");
    match node {
        Node::Text(text) => serde_json::to_string(text).unwrap(),
        Node::List(items) => format!("[{}]", all(items.iter().map(json).collect())),
        Node::Object(members) => {
            let member = |(name, node): &(String, Node)| format!("{name:?}: {}", json(node));
            format!("{{{}}}", all(members.iter().map(member).collect()))
        }
    }
}

/// Replaces Latin letters by Hebrew ones, except in places: a right-to-left language.
fn mirrored(text: &str) -> String {
    let mut inside = false;
    let letter = |c: char| char::from_u32(0x5d0 + (c as u32 + 5) % 27).unwrap_or(c);
    text.chars()
        .map(|c| {
            inside = (inside || c == '{') && c != '}';
            if c.is_ascii_lowercase() && !inside {
                letter(c)
            } else {
                c
            }
        })
        .collect()
}

fn map(node: &Node, of: &impl Fn(&str) -> String) -> Node {
    match node {
        Node::Text(text) => Node::Text(of(text)),
        Node::List(items) => Node::List(items.iter().map(|node| map(node, of)).collect()),
        Node::Object(members) => {
            let member = |(name, node): &(String, Node)| (name.clone(), map(node, of));
            Node::Object(members.iter().map(member).collect())
        }
    }
}

fn member<'a>(node: &'a mut Node, name: &str) -> &'a mut Node {
    let Node::Object(members) = node else {
        panic!("no object");
    };
    &mut members
        .iter_mut()
        .find(|(found, _)| found == name)
        .unwrap()
        .1
}

fn remove(node: &mut Node, name: &str) {
    let Node::Object(members) = node else {
        panic!("no object");
    };
    members.retain(|(found, _)| found != name);
}

/// A third language, made from English.
fn third() -> Node {
    let mut third = map(&english(), &mirrored);
    let Node::Object(sections) = &mut third else {
        panic!("no object");
    };
    sections[0].1 = serde_json::from_str(
        r#"{
            "tag": "he-x-mirror", "name": "Mirror", "short": "M", "switch": "M · Mirror",
            "direction": "rtl", "accepts": ["he-x-mirror", "he", "yi"], "decimal": ",",
            "group": ".", "percent": "%{n}", "quote": "«{x}»", "list": "; ", "colon": ": ",
            "gap": " "
        }"#,
    )
    .unwrap();
    third
}

fn with_third(third: &Node) -> Result<Vec<(String, String)>, String> {
    let mut files = shipped();
    files.push(("mirror".to_owned(), json(third)));
    generate(&files)
}

/// The texts of every constant, in all languages.
fn constants(rust: &str) -> Vec<Vec<String>> {
    rust.lines()
        .filter_map(|line| line.split_once("= Text(&"))
        .map(|(_, list)| {
            let list = list.trim_end_matches(");").replace("\\u{", "\\\\u{");
            serde_json::from_str(&list).unwrap()
        })
        .collect()
}

#[test]
fn a_third_language_is_one_more_file() {
    let two = generate(&shipped()).unwrap();
    let three = with_third(&third()).unwrap();
    assert_eq!(two.len(), three.len());
    // Every constant has the texts of all languages, in the same order.
    let mut texts = 0;
    for ((name, two), (_, three)) in two.iter().zip(&three) {
        let (two, three) = (constants(two), constants(three));
        assert_eq!(two.len(), three.len(), "{name}");
        for (old, new) in two.iter().zip(&three) {
            assert_eq!(new.len(), shipped().len() + 1, "{name}: {new:?}");
            assert!(old.iter().all(|text| new.contains(text)), "{name}: {new:?}");
            texts += 1;
        }
    }
    assert!(texts > 300, "{texts}");
    let file = |name: &str| &three.iter().find(|(file, _)| file == name).unwrap().1;
    assert!(file("lang.rs").contains("    Mirror,\n") && file("lang.rs").contains("\"mirror\""));
    assert!(file("language.rs").contains("(\"yi\", Lang::Mirror)"));
    let forms = file("sentence.rs").matches("    &[").count();
    let counted = file("sentence.rs").matches("Counted(&").count();
    assert_eq!(forms, counted * (shipped().len() + 1));
}

#[test]
fn what_is_missing_strange_or_different_is_named() {
    type Damage = fn(&mut Node);
    let cases: [(&str, Damage); 12] = [
        ("mirror.json: page.SHARE is missing", |t| {
            remove(member(t, "page"), "SHARE");
        }),
        ("mirror.json: board.MAP is missing", |t| remove(t, "board")),
        ("mirror.json: start.OTHER is missing", |t| {
            remove(member(t, "start"), "OTHER");
        }),
        ("mirror.json: page.SPARE is not in lang/en.json", |t| {
            let page = member(t, "page");
            let Node::Object(texts) = page else { panic!() };
            texts.push(("SPARE".to_owned(), Node::Text("spare".to_owned())));
        }),
        (
            "page.LOADED has the places {\"dome\"} where English has {\"done\"}",
            |t| {
                *member(member(t, "page"), "LOADED") = Node::Text("{dome} kB".to_owned());
            },
        ),
        ("page.LOADED has a { that nothing closes", |t| {
            *member(member(t, "page"), "LOADED") = Node::Text("{done} {kB".to_owned());
        }),
        ("page.SHARE is empty", |t| {
            *member(member(t, "page"), "SHARE") = Node::Text(" ".into());
        }),
        ("page.SKIP is still English", |t| {
            *member(member(t, "page"), "SKIP") = Node::Text("Skip to the map".to_owned());
        }),
        ("sentence.EMPTY has no form “one”", |t| {
            remove(member(member(t, "sentence"), "EMPTY"), "one");
        }),
        (
            "page.SHARE is not a text, or counted where English is not",
            |t| {
                *member(member(t, "page"), "SHARE") = Node::List(vec![]);
            },
        ),
        (
            "sentence.EMPTY has the form “several”, which CLDR does not know",
            |t| {
                let empty = member(member(t, "sentence"), "EMPTY");
                let Node::Object(forms) = empty else { panic!() };
                forms.push(("several".to_owned(), Node::Text("several".to_owned())));
            },
        ),
        ("language.direction is neither ltr nor rtl", |t| {
            *member(member(t, "language"), "direction") = Node::Text("down".to_owned());
        }),
    ];
    for (wanted, damage) in cases {
        let mut damaged = third();
        damage(&mut damaged);
        let said = with_third(&damaged).unwrap_err();
        assert!(said.contains(wanted), "wanted: {wanted}\nsaid: {said}");
    }
}

#[test]
fn damaged_json_is_refused_with_its_file() {
    let broken = [
        ("{", "mirror.json: EOF"),
        (
            "{\"page\": {\"A\": \"1\", \"A\": \"2\"}}",
            "“A” stands there twice",
        ),
        ("{\"page\": 1}", "expected a text, a list or an object"),
    ];
    for (text, wanted) in broken {
        let mut files = shipped();
        files.push(("mirror".to_owned(), text.to_owned()));
        let said = generate(&files).unwrap_err();
        assert!(said.contains(wanted), "{said}");
    }
    let said = generate(&[("zh".to_owned(), json(&third()))]).unwrap_err();
    assert!(said.contains("lang/en.json is missing or broken"), "{said}");
}

/// Every Rust file below `folder`.
fn rust_files(folder: &std::path::Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// The names of `texts` that no file of `sources` uses.
fn unused(texts: &Node, sources: &[String]) -> Vec<String> {
    let used: std::collections::HashSet<&str> = sources
        .iter()
        .flat_map(|source| source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .collect();
    let Node::Object(sections) = texts else {
        panic!("no object");
    };
    let mut unused = Vec::new();
    for (section, node) in sections {
        let Node::Object(names) = node else { continue };
        // build/start.mjs reads "start"; "language" holds facts, not texts.
        if section != "start" && section != "language" {
            let names = names.iter().filter(|(name, _)| !used.contains(&**name));
            unused.extend(names.map(|(name, _)| format!("{section}.{name}")));
        }
    }
    unused
}

/// The texts are public items of a library, so the compiler does not report unused ones.
#[test]
fn every_text_is_used() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    rust_files(&root.join("src"), &mut sources);
    rust_files(&root.join("crates/text/src"), &mut sources);
    assert_eq!(unused(&english(), &sources), [""; 0]);
    let mut more = english();
    let Node::Object(members) = member(&mut more, "board") else {
        panic!("no object");
    };
    members.push(("NOBODY_SHOWS_ME".to_owned(), Node::Text("?".to_owned())));
    assert_eq!(unused(&more, &sources), ["board.NOBODY_SHOWS_ME"]);
}

/// A counted text has exactly the plural forms that CLDR gives its language; with one form it is a
/// plain text.
#[test]
fn counted_texts_have_the_plural_forms_of_their_language() {
    let counted = |node: &Node| matches!(node, Node::Object(_));
    let mut judged = 0;
    for (code, text) in shipped() {
        let words: Node = serde_json::from_str(&text).unwrap();
        let tag = words.get("language").unwrap().get("tag").unwrap();
        let locale = icu_locale_core::Locale::try_from_str(tag.text().unwrap()).unwrap();
        let rules = icu_plurals::PluralRules::try_new(
            (&locale).into(),
            icu_plurals::PluralRulesOptions::default(),
        )
        .unwrap();
        let wanted: Vec<String> = rules
            .categories()
            .map(|category| format!("{category:?}").to_lowercase())
            .collect();
        for (section, texts) in words.members() {
            for (name, node) in texts.members() {
                let model = english();
                let model = model.get(section).and_then(|texts| texts.get(name));
                if section == "language" || !model.is_some_and(counted) {
                    continue;
                }
                let mut forms: Vec<_> = node.members().iter().map(|(form, _)| &**form).collect();
                if forms.is_empty() {
                    forms.push("other");
                }
                assert_eq!(forms, wanted, "lang/{code}.json: {section}.{name}");
                judged += 1;
            }
        }
    }
    assert!(judged > 10, "{judged}");
}
