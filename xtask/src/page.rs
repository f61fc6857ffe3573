//! Builds the page into `dist/`, measures its size, serves it.

use std::env;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use crate::{step, tools};

/// `cargo xtask build`.
pub fn build(sh: &Shell) -> Result<()> {
    compile(sh)?;
    weigh(sh)
}

pub fn compile(sh: &Shell) -> Result<()> {
    tools::ensure(sh)?;
    step(
        "building the page into dist/ (release)",
        "Rust to WebAssembly, wasm-bindgen, wasm-opt, and the files of www/",
    );
    Ok(trunk(cmd!(sh, "trunk build")).run()?)
}

pub fn weigh(sh: &Shell) -> Result<()> {
    step(
        "weighing the page",
        "what the first map waits for, without layer data, must stay below 420 kB brotli",
    );
    Ok(cmd!(sh, "node xtask/npm/size.mjs dist").run()?)
}

/// `cargo xtask serve`: trunk builds, serves with the headers of Trunk.toml, and watches the files.
pub fn serve(sh: &Shell, args: &[String]) -> Result<()> {
    tools::ensure(sh)?;
    let mut serve = cmd!(sh, "trunk serve");
    let has = |name: &str| args.iter().any(|arg| arg.split('=').next() == Some(name));
    if !has("--no-open") {
        serve = serve.arg("--open");
    }
    if !has("--port") && !has("-p") {
        serve = serve.args(["--port".to_owned(), free_port().to_string()]);
    }
    let others = args.iter().filter(|arg| *arg != "--no-open");
    step("serving the page", "leave it running; Ctrl-C ends it");
    Ok(trunk(serve.args(others)).run()?)
}

/// 8080, or the next free port.
fn free_port() -> u16 {
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    (8080..8180).find(free).unwrap_or(8080)
}

/// The options of every call of trunk.
fn trunk(call: Cmd<'_>) -> Cmd<'_> {
    call.args(["--release", "--locked", "--skip-version-check"])
        // trunk reads NO_COLOR as a flag that must be true or false.
        .env("NO_COLOR", "false")
        // Cargo adds this to the flags of .cargo/config.toml.
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
            without_home(),
        )
}

/// The flag that keeps the builder's home folder out of the page: a panic names its source file,
/// and for a dependency that is in the home folder. Cargo splits flags at spaces, so a home folder
/// with a space stays in.
fn without_home() -> String {
    let home = || env::home_dir().unwrap_or_default().join(".cargo");
    let cargo = env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from);
    let sources = cargo.join("registry").join("src");
    let flag = format!("--remap-path-prefix={}=crates", sources.display());
    if flag.contains(' ') {
        String::new()
    } else {
        flag
    }
}
