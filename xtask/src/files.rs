//! Where things are.

use std::path::{Path, PathBuf};

/// The project's root folder.
pub fn root() -> PathBuf {
    // xtask is one level below the root, wherever the project was cloned to.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Tools of this project only: `bin/` from cargo, `node_modules/` from npm.
pub fn tools() -> PathBuf {
    root().join(".tools")
}

/// The built page.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Cargo's build folder, where `CARGO_TARGET_DIR` may have moved it.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || root().join("target"),
        |dir| root().join(PathBuf::from(dir)),
    )
}

/// The first `name` on the search path, if any.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let exe = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(&exe))
        .find(|file| file.is_file())
}
