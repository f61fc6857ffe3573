//! The page, built into `dist/`.

use std::fs;
use std::path::PathBuf;

use crate::files;
use crate::fingerprint;
use crate::run::Run;
use crate::say::{self, Failure, Outcome};
use crate::tools;

/// In `dist`, because every build by trunk empties it: a build made by hand is never mistaken for
/// one made here.
const STAMP: &str = ".attnscope-build";

/// `cargo xtask build`.
///
/// # Errors
/// When a tool is missing or the build fails.
pub fn main() -> Outcome {
    page()
}

/// Builds the page unless `dist/` holds it already, and weighs it.
///
/// # Errors
/// When a tool is missing, the build fails, or the page is larger than its budget.
pub fn page() -> Outcome {
    compile()?.map_or(Ok(()), accept)
}

/// Cargo adds what is in this variable to the flags of `.cargo/config.toml`.
const RUSTFLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// The flag that keeps the builder's home folder out of the page: a panic names the
/// source file, and that of a dependency lies there. Cargo splits the variable at spaces, so a home
/// with one stays in.
fn without_home() -> String {
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(
        || std::env::home_dir().unwrap_or_default().join(".cargo"),
        PathBuf::from,
    );
    let sources = cargo.join("registry").join("src");
    let flag = format!("--remap-path-prefix={}=crates", sources.display());
    if flag.contains(' ') {
        String::new()
    } else {
        flag
    }
}

/// A page that was just built and not weighed yet: the fingerprint of what it was built from.
#[must_use = "a page that nobody weighs is built again next time"]
pub struct Fresh(String);

/// Builds the page; `None` when `dist/` holds it already.
///
/// # Errors
/// When a tool is missing or the build fails.
pub fn compile() -> Outcome<Option<Fresh>> {
    let root = files::root();
    let inputs = fingerprint::of(&root, &fingerprint::Made::here(&root)).map_err(|why| {
        Failure::new(
            format!("the project's files cannot be read: {why}"),
            "trunk build --release --locked",
        )
    })?;
    let stamp = files::dist().join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|old| old == inputs) {
        say::done("the page in dist/ is up to date");
        return Ok(None);
    }
    tools::ensure()?;
    say::step(
        "building the page into dist/ (release; about 2 minutes at first)",
        "Rust to WebAssembly, wasm-bindgen, wasm-opt, and the files of www/",
    );
    Run::new(
        "trunk",
        &["build", "--release", "--locked", "--skip-version-check"],
    )
    .with_tools()
    // trunk reads NO_COLOR as a flag that must be true or false.
    .env("NO_COLOR", "false")
    .env(RUSTFLAGS, without_home())
    .show()?;
    Ok(Some(Fresh(inputs)))
}

/// Weighs a fresh page and notes that it is up to date.
///
/// # Errors
/// When it is larger than its budget.
pub fn accept(Fresh(inputs): Fresh) -> Outcome {
    say::step(
        "weighing the page",
        "wasm + js + css + html without layer data must stay below 420 kB brotli: the first map waits for them",
    );
    Run::new("node", &["xtask/npm/size.mjs", "dist"]).show()?;
    fs::write(files::dist().join(STAMP), inputs).map_err(|why| {
        Failure::new(
            format!("dist/{STAMP} cannot be written: {why}"),
            "check that dist/ can be written to",
        )
    })
}
