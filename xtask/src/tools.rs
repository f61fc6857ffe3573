//! The tools that build the page, at pinned versions, in folders of the project. rustup installs
//! the toolchain by itself (`rust-toolchain.toml`).

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::step;

/// trunk 0.22 needs a newer rustc than the project does. Trunk.toml has the same version.
const TRUNK: &str = "0.21.14";
/// Must be the version of the crate `wasm-bindgen` in Cargo.toml.
const WASM_BINDGEN: &str = "0.2.129";
/// wasm-opt comes in the npm package binaryen; `xtask/npm/package.json` has the pin.
const WASM_OPT: &str = "132";
/// The version for the browser tests and the tools from npm.
const NODE_MAJOR: u32 = 20;

/// The project's root folder: xtask is one level below it.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Cargo's build folder.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A shell in the project's root, with the project's own tools first on the search path.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let own = [".tools/bin", "xtask/npm/node_modules/.bin"].map(|dir| root().join(dir));
    let old = env::var_os("PATH").unwrap_or_default();
    let all = env::join_paths(own.into_iter().chain(env::split_paths(&old)));
    sh.set_var(
        "PATH",
        all.context("the project's folder has a name that no search path can hold")?,
    );
    // Mesa needs a user folder and warns on every start without one.
    let runtime = target().join("xdg-runtime");
    if env::var_os("XDG_RUNTIME_DIR").is_none() && sh.create_dir(&runtime).is_ok() {
        sh.set_var("XDG_RUNTIME_DIR", runtime);
    }
    Ok(sh)
}

/// The first file on the search path with this `name` and any program extension. npm and what it
/// installs are scripts on Windows (`npm.cmd`), which cannot be started by their bare name.
pub fn find(sh: &Shell, name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) {
        &["exe", "cmd"]
    } else {
        &[""]
    };
    let path = sh.var_os("PATH")?;
    env::split_paths(&path)
        .flat_map(|dir| {
            endings
                .iter()
                .map(move |ending| dir.join(name).with_extension(ending))
        })
        .find(|file| file.is_file())
}

/// Installs the packages of the lock file in `dir`, unless they are there.
pub fn npm_packages(sh: &Shell, dir: &str, why: &str) -> Result<()> {
    let npm = find(sh, "npm").context("npm is missing: it comes with Node")?;
    let _dir = sh.push_dir(dir);
    if cmd!(sh, "{npm} ls")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_err()
    {
        step(&format!("fetching the npm packages of {dir}"), why);
        cmd!(sh, "{npm} ci --no-audit --no-fund --ignore-scripts").run()?;
    }
    Ok(())
}

/// Everything that `trunk build` needs.
pub fn ensure(sh: &Shell) -> Result<()> {
    node(sh)?;
    cargo_tool(sh, "trunk", "trunk", TRUNK)?;
    cargo_tool(sh, "wasm-bindgen", "wasm-bindgen-cli", WASM_BINDGEN)?;
    if said_version(sh, "wasm-opt", WASM_OPT) {
        return Ok(());
    }
    let why = "wasm-opt makes the WebAssembly module about a third smaller";
    npm_packages(sh, "xtask/npm", why)
}

/// Node, which xtask cannot install for the user.
pub fn node(sh: &Shell) -> Result<()> {
    let found = cmd!(sh, "node --version").quiet().read();
    let found = found.as_deref().unwrap_or("none");
    let major = found.trim_start_matches('v').split('.').next();
    ensure!(
        major.is_some_and(|text| text.parse().is_ok_and(|major: u32| major >= NODE_MAJOR)),
        "Node {NODE_MAJOR} or newer is needed, found {found}: install it from https://nodejs.org"
    );
    Ok(())
}

fn said_version(sh: &Shell, program: &str, version: &str) -> bool {
    find(sh, program)
        .and_then(|program| {
            cmd!(sh, "{program} --version")
                .quiet()
                .ignore_stderr()
                .read()
                .ok()
        })
        .is_some_and(|text| text.split_whitespace().any(|word| word == version))
}

/// `program` of the package `krate`: reused if the pinned version is on the search path, else built
/// into `.tools`. The user's own tools are never changed.
fn cargo_tool(sh: &Shell, program: &str, krate: &str, version: &str) -> Result<()> {
    if said_version(sh, program, version) {
        return Ok(());
    }
    step(
        &format!("building {program} {version} into .tools (once; 2 to 10 minutes)"),
        "it makes the page of what rustc makes; crate and tool must be of one version",
    );
    // Optimising these tools, which run for seconds or only call others, would take most of a first
    // set-up. They have a build folder of their own: the profiles of this project would build
    // everything a second time.
    let level = if krate == "trunk" { "0" } else { "1" };
    let install = cmd!(
        sh,
        "cargo install {krate} --version {version} --locked --root .tools"
    )
    .env("CARGO_TARGET_DIR", target().join("tools"))
    .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level)
    .env("CARGO_PROFILE_RELEASE_LTO", "off")
    .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    Ok(install.run()?)
}
