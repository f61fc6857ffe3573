//! What README and ARCHITECTURE say about parameters and files is what there is. After a change:
//! `UPDATE_DOCS=1 cargo test --test docs` rewrites both tables.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use attnscope::scene::Scene;
use attnscope::scene::keys::KEYS;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// Holds what stands between the two marks of `file` to `wanted`, or writes it there.
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

/// Without these words in its sandbox the link of an embed to the full page is dead.
#[test]
fn every_frame_to_copy_lets_its_link_open() {
    for file in ["README.md", "examples/host.html", "src/ui/share.rs"] {
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

/// Every source file below `folder` that the table names, as paths from the root, sorted.
fn sources(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        // A folder that is gone is a table that no longer fits.
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if [".rs", ".wgsl"].iter().any(|end| name.ends_with(end))
                && !name.ends_with("_tests.rs")
            {
                let path = path.strip_prefix(root()).unwrap();
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// The first sentence of a file's own description.
fn description(file: &str) -> String {
    let text = read(file);
    let mark = if Path::new(file).extension().is_some_and(|end| end == "wgsl") {
        "//"
    } else {
        "//!"
    };
    let lines: Vec<_> = text
        .lines()
        .map_while(|line| line.strip_prefix(mark))
        .map(str::trim)
        .take_while(|line| !line.is_empty() && !line.starts_with("!import"))
        .collect();
    let paragraph = lines.join(" ");
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    assert!(!sentence.is_empty(), "{file} does not say what it is");
    sentence.trim_end_matches('.').replace('|', "\\|")
}

#[test]
fn the_table_of_files_is_the_tree() {
    let mut table = String::from("| file | what it is |\n|---|---|\n");
    for folder in [
        "build",
        "kernels/src",
        "markup/src",
        "shaders",
        "src",
        "xtask/src",
    ] {
        for file in sources(folder) {
            writeln!(table, "| `{file}` | {} |", description(&file)).unwrap();
        }
    }
    hold("ARCHITECTURE.md", "files", &table);
}
