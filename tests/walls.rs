//! The walls between the crates, as Cargo sees them: which crate may depend on which.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::process::Command;

/// All dependencies of `package` in the page's build, itself included; `depth` 1 means direct ones.
fn dependencies(package: &str, depth: Option<u32>) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["tree", "--offline", "--prefix", "none", "--edges", "normal"])
        .args(["--target", "all", "--format", "{p}", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(depth) = depth {
        command.args(["--depth", &depth.to_string()]);
    }
    let output = command.output().expect("cargo");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The project's own crates that `package` depends on directly.
fn own(package: &str) -> Vec<String> {
    dependencies(package, Some(1))
        .into_iter()
        .filter(|name| name.starts_with("attnscope-") && name != package)
        .map(|name| name["attnscope-".len()..].to_owned())
        .collect()
}

#[test]
fn arrows_point_inwards_only() {
    for (package, knows) in [
        ("attention", &[][..]),
        ("scene", &["attention"]),
        ("data", &["attention", "scene"]),
        ("engine", &["attention", "scene"]),
        ("engine-cpu", &["attention", "engine", "scene"]),
        ("engine-gpu", &["attention", "engine", "scene"]),
        ("text", &["attention", "scene"]),
        (
            "worker",
            &["attention", "data", "engine", "engine-cpu", "scene"],
        ),
    ] {
        assert_eq!(own(&format!("attnscope-{package}")), knows, "{package}");
    }
}

#[test]
fn only_the_app_knows_leptos_and_only_one_engine_the_graphics_device() {
    for package in [
        "attention",
        "scene",
        "data",
        "engine",
        "engine-cpu",
        "text",
        "worker",
    ] {
        let all = dependencies(&format!("attnscope-{package}"), None);
        for foreign in ["leptos", "wgpu", "web-sys"] {
            assert!(!all.contains(foreign), "{package} knows {foreign}");
        }
    }
    let gpu = dependencies("attnscope-engine-gpu", None);
    assert!(gpu.contains("wgpu") && !gpu.contains("leptos"));
    let app = dependencies("attnscope", None);
    assert!(app.contains("leptos"), "what is asked here can be answered");
}

#[test]
fn the_mathematics_stands_alone() {
    let page = ["js-sys", "wasm-bindgen", "wgpu", "leptos", "serde_json"];
    let all = dependencies("attnscope-attention", None);
    for foreign in page {
        assert!(!all.contains(foreign), "attention knows {foreign}");
    }
    assert!(all.contains("nalgebra"));
}
