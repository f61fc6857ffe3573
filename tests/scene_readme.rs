//! The README's table of link parameters is the one of the program. After a change of the
//! parameters: `UPDATE_README=1 cargo test --test scene_readme`.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use attnscope::scene::Scene;
use attnscope::scene::keys::KEYS;

const OPEN: &str = "<!-- links -->\n";
const CLOSE: &str = "<!-- /links -->";

fn table() -> String {
    let plain = Scene::default();
    let mut table = String::from("| name | stands for | values | default |\n|---|---|---|---|\n");
    for key in KEYS {
        let (values, default) = ((key.values)(), (key.write)(&plain));
        let default = if default.is_empty() {
            String::new()
        } else {
            format!("`{default}`")
        };
        writeln!(
            table,
            "| `{}` | {} | {values} | {default} |",
            key.name, key.about
        )
        .unwrap();
    }
    table
}

#[test]
fn the_readme_has_every_parameter() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let start = readme.find(OPEN).unwrap() + OPEN.len();
    let end = start + readme[start..].find(CLOSE).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        let updated = format!("{}{}{}", &readme[..start], table(), &readme[end..]);
        std::fs::write(&path, updated).unwrap();
        return;
    }
    assert_eq!(&readme[start..end], table());
}

#[test]
fn links_in_the_readme_are_understood() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let links: Vec<_> = readme
        .split("embed.html#")
        .skip(1)
        .map(|rest| rest.split(['"', '`', ' ', ')']).next().unwrap())
        .collect();
    assert!(!links.is_empty());
    for link in links {
        assert_eq!(Scene::from_fragment(link).warnings, [], "{link}");
    }
}
