//! The README describes links as the program reads them. After a change of the link parameters,
//! `UPDATE_DOCS=1 cargo test --test docs` rewrites its table.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;

use attnscope_scene::Scene;
use attnscope_scene::keys::KEYS;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// Compares the text between the two marks of `file` with `wanted`, or writes it there.
#[track_caller]
fn hold(file: &str, mark: &str, wanted: &str) {
    let text = read(file);
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let start = text.find(&open).unwrap() + open.len();
    let end = start + text[start..].find(&close).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let updated = format!("{}{wanted}{}", &text[..start], &text[end..]);
        std::fs::write(root().join(file), updated).unwrap();
        return;
    }
    for (had, wanted) in text[start..end].lines().zip(wanted.lines()) {
        assert_eq!(had, wanted, "{file}: UPDATE_DOCS=1 cargo test --test docs");
    }
    assert_eq!(text[start..end].lines().count(), wanted.lines().count());
}

#[test]
fn the_readme_has_every_parameter() {
    let plain = Scene::default();
    let mut table = String::from("| name | stands for | values | default |\n|---|---|---|---|\n");
    for key in KEYS {
        let (values, default) = ((key.values)(), (key.write)(&plain));
        let default = if default.is_empty() {
            String::new()
        } else {
            format!("`{default}`")
        };
        let (name, about) = (key.name, key.about);
        writeln!(table, "| `{name}` | {about} | {values} | {default} |").unwrap();
    }
    hold("README.md", "links", &table);
}

#[test]
fn links_in_the_documents_are_understood() {
    let mut found = 0;
    for file in ["README.md", "examples/host.html"] {
        for rest in read(file).split("#v=1").skip(1) {
            let link = rest.split(['"', '`', ' ', ')']).next().unwrap();
            if link.contains('…') {
                continue;
            }
            assert_eq!(Scene::from_fragment(link).warnings, [], "{file}: {link}");
            found += 1;
        }
    }
    assert!(found >= 3, "{found}");
}

/// Without these words in its sandbox, an embed's link to the full page is dead.
#[test]
fn every_frame_to_copy_lets_its_link_open() {
    for file in ["README.md", "examples/host.html", "src/components/share.rs"] {
        let text = read(file);
        let mut frames = 0;
        for line in text.lines().filter(|line| line.contains("\"allow-scripts")) {
            let start = line.find("\"allow-scripts").unwrap() + 1;
            let words: Vec<_> = line[start..]
                .split('"')
                .next()
                .unwrap()
                .split(' ')
                .collect();
            let needed = ["allow-popups", "allow-popups-to-escape-sandbox"];
            assert!(
                needed.iter().all(|word| words.contains(word)),
                "{file}: {line}"
            );
            frames += 1;
        }
        assert!(frames > 0, "{file} has no frame any more");
    }
}

const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// What stands between backticks, code blocks aside.
fn quoted(text: &str) -> Vec<String> {
    let outside: String = text.split("```").step_by(2).collect();
    let spans = outside.split('`').skip(1).step_by(2);
    spans.map(str::to_owned).collect()
}

#[test]
fn files_that_the_documents_name_exist() {
    let mut judged = 0;
    let top = [
        "crates/", "src/", "shaders/", "tests/", "e2e/", "docs/", "lang/", "www/", "build/",
        "xtask/",
    ];
    for file in DOCUMENTS {
        for name in quoted(&read(file)) {
            if top.iter().any(|folder| name.starts_with(folder)) && !name.contains("NAME") {
                assert!(root().join(&name).exists(), "{file}: {name}");
                judged += 1;
            }
        }
    }
    assert!(judged > 40, "{judged}");
}

/// A command names tests and browser suites that are there.
#[test]
fn commands_that_the_documents_give_run_something() {
    let mut judged = 0;
    let workspace = read("Cargo.toml");
    for file in DOCUMENTS {
        for command in read(file)
            .split(['`', '\n'])
            .filter(|text| text.contains("cargo test") || text.contains("node e2e/run.mjs"))
        {
            let words: Vec<_> = command.split_whitespace().collect();
            for pair in words.windows(2) {
                let there = match pair {
                    ["--test", name] => root().join(format!("tests/{name}.rs")).exists(),
                    ["-p", name] => workspace.contains(&format!("{name} = {{ path")),
                    ["e2e/run.mjs", suite] => root().join(format!("e2e/{suite}.test.mjs")).exists(),
                    _ => continue,
                };
                assert!(there, "{file}: {command}");
                judged += 1;
            }
        }
    }
    assert!(judged > 8, "{judged}");
}

/// A page that one reads on the first day.
#[test]
fn the_architecture_stays_short() {
    let words = read("ARCHITECTURE.md").split_whitespace().count();
    assert!(words <= 2500, "{words}");
}
