//! The tools that build the page, at their pins, in a folder of the project.

use std::fs;

use crate::files;
use crate::run::Run;
use crate::say::{self, Failure, Outcome};

/// trunk 0.22 needs a newer rustc than the project does.
const TRUNK: &str = "0.21.14";
/// Must be the version of the crate `wasm-bindgen` in Cargo.toml.
const WASM_BINDGEN: &str = "0.2.129";
/// wasm-opt comes in the npm package binaryen; `xtask/npm/package.json` holds the pin.
const WASM_OPT: &str = "version 132";
/// What the browser tests and the tools from npm are written for.
const NODE_MAJOR: u32 = 20;

const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// Everything that `trunk build` needs.
///
/// # Errors
/// When a tool is missing and cannot be installed.
pub fn ensure() -> Outcome {
    node()?;
    wasm_target()?;
    cargo_tool(
        "trunk",
        "trunk",
        TRUNK,
        "it puts pages, style and WebAssembly together",
    )?;
    cargo_tool(
        "wasm-bindgen",
        "wasm-bindgen-cli",
        WASM_BINDGEN,
        "it writes the JavaScript around the WebAssembly module; crate and tool must be of one version",
    )?;
    wasm_opt()
}

/// Node, which nothing here can install for the user.
///
/// # Errors
/// When it is missing or too old.
pub fn node() -> Outcome {
    let version = Run::new("node", &["--version"]).text();
    let major = version.as_deref().and_then(|v| {
        v.trim_start_matches('v')
            .split('.')
            .next()?
            .parse::<u32>()
            .ok()
    });
    match (major, version) {
        (Some(major), Some(version)) if major >= NODE_MAJOR => {
            say::done(&format!("Node {version}"));
            Ok(())
        }
        (_, found) => Err(Failure::new(
            format!(
                "Node {NODE_MAJOR} or newer is needed, found {}",
                found.as_deref().unwrap_or("none")
            ),
            "install Node from https://nodejs.org or with your package manager, then try again",
        )),
    }
}

fn wasm_target() -> Outcome {
    let there = Run::new(
        "rustc",
        &["--print", "target-libdir", "--target", WASM_TARGET],
    )
    .text()
    .is_some_and(|dir| fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some()));
    if there {
        say::done(&format!("Rust target {WASM_TARGET}"));
        return Ok(());
    }
    say::step(
        &format!("adding the Rust target {WASM_TARGET}"),
        "the page is Rust compiled to WebAssembly",
    );
    Run::new("rustup", &["target", "add", WASM_TARGET]).show()
}

/// rustfmt or clippy, which a minimal toolchain lacks.
///
/// # Errors
/// When it is missing and rustup cannot add it.
pub fn component(command: &str, name: &str) -> Outcome {
    if Run::new("cargo", &[command, "--version"]).text().is_some() {
        say::done(name);
        return Ok(());
    }
    say::step(&format!("adding {name}"), "the tests check it");
    Run::new("rustup", &["component", "add", name]).show()
}

/// `program` of the package `krate`: reused when the pinned version is in `.tools/bin` or on the
/// search path, else built into `.tools`. The user's own tools are never touched.
fn cargo_tool(program: &str, krate: &str, version: &str, why: &str) -> Outcome {
    let found = Run::new(program, &["--version"]).with_tools().text();
    if found.is_some_and(|text| text.split_whitespace().any(|word| word == version)) {
        say::done(&format!("{program} {version}"));
        return Ok(());
    }
    say::step(
        &format!("building {program} {version} into .tools (once; 2 to 10 minutes)"),
        why,
    );
    let root = files::tools();
    // Its own build folder: the profiles of this project would build everything a second time.
    Run::new(
        "cargo",
        &["install", krate, "--version", version, "--locked", "--root"],
    )
    .arg(root.to_string_lossy())
    .env("CARGO_TARGET_DIR", files::target().join("tools"))
    // Tools that run for seconds need no long optimising: a third of the time of a first set-up. What
    // only calls other programs needs none.
    .env(
        "CARGO_PROFILE_RELEASE_OPT_LEVEL",
        if krate == "trunk" { "0" } else { "1" },
    )
    .env("CARGO_PROFILE_RELEASE_LTO", "off")
    .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    .show()
}

fn wasm_opt() -> Outcome {
    let found = Run::new("wasm-opt", &["--version"]).with_tools().text();
    if found.is_some_and(|text| text.contains(WASM_OPT)) {
        say::done(&format!("wasm-opt {WASM_OPT}"));
        return Ok(());
    }
    say::step(
        "fetching wasm-opt (npm package binaryen) into .tools",
        "it makes the WebAssembly module about a third smaller",
    );
    let from = files::root().join("xtask").join("npm");
    for name in ["package.json", "package-lock.json"] {
        fs::create_dir_all(files::tools())
            .and_then(|()| fs::copy(from.join(name), files::tools().join(name)))
            .map_err(|why| {
                Failure::new(
                    format!("{name} cannot be copied into .tools: {why}"),
                    format!("cp xtask/npm/{name} .tools/"),
                )
            })?;
    }
    npm_ci(&files::tools())
}

/// The packages that the lock file in `dir` names, and nothing else.
///
/// # Errors
/// When npm fails.
pub fn npm_ci(dir: &std::path::Path) -> Outcome {
    Run::new(
        "npm",
        &["ci", "--no-audit", "--no-fund", "--ignore-scripts"],
    )
    .dir(dir)
    .show()
}
