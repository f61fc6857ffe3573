//! One number over everything that goes into the page, so that an unchanged page is not built
//! again: the project's files, the compiler, and the variables that change what it makes.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::run::Run;

/// Folders and files of the root that do not go into the page. All others do, `xtask` with its pins
/// and scripts among them: forgetting one here costs a build, forgetting one in a list of inputs
/// would serve an old page.
const ASIDE: &[&str] = &[
    ".ci",
    ".git",
    ".github",
    ".tools",
    "benches",
    "dist",
    "e2e",
    "examples",
    "node_modules",
    "target",
    "tests",
];

/// Variables that change what cargo, rustc or trunk make, by how their names begin. Cargo itself sets
/// none of them for the programs that it runs.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_",
    "CARGO_TARGET_WASM32_",
    "CARGO_UNSTABLE_",
    "RUSTC",
    "RUSTFLAGS",
    "TRUNK_",
];

/// What the page is made with, the project's own files aside.
pub struct Made {
    /// What the compiler says about itself.
    compiler: String,
    /// Those of [`VARIABLES`] that are set.
    variables: Vec<(String, String)>,
    /// Cargo's settings outside of the project: the path, and what is there.
    settings: Vec<(String, Option<Vec<u8>>)>,
}

impl Made {
    /// With what this machine would make it now.
    pub fn here(root: &Path) -> Self {
        let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let texts = env::vars_os().map(|(name, value)| {
            let text = |part: std::ffi::OsString| part.to_string_lossy().into_owned();
            (text(name), text(value))
        });
        Self {
            // Without a compiler the build says what is missing.
            compiler: Run::new(&rustc, &["-vV"]).text().unwrap_or_default(),
            variables: acting(texts),
            settings: outer_settings(root)
                .into_iter()
                .map(|path| (path.to_string_lossy().into_owned(), fs::read(path).ok()))
                .collect(),
        }
    }

    fn add(&self, hash: &mut DefaultHasher) {
        write(hash, self.compiler.as_bytes());
        hash.write_usize(self.variables.len());
        for (name, value) in &self.variables {
            write(hash, name.as_bytes());
            write(hash, value.as_bytes());
        }
        for (path, bytes) in &self.settings {
            if let Some(bytes) = bytes {
                write(hash, path.as_bytes());
                write(hash, bytes);
            }
        }
    }
}

/// Those of `all` that change what is made, in the order of their names.
fn acting(all: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut acting: Vec<_> = all
        .filter(|(name, _)| VARIABLES.iter().any(|start| name.starts_with(start)))
        .collect();
    acting.sort();
    acting
}

/// Where cargo looks for settings beside the project's own `.cargo`.
fn outer_settings(root: &Path) -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|dir| dir.join(".cargo")));
    let above = root.ancestors().skip(1).map(|dir| dir.join(".cargo"));
    home.into_iter()
        .chain(above)
        .flat_map(|dir| ["config.toml", "config"].map(|name| dir.join(name)))
        .collect()
}

/// The fingerprint of the project at `root`, from names and contents, made with `made`.
///
/// # Errors
/// When a file cannot be read.
pub fn of(root: &Path, made: &Made) -> io::Result<String> {
    let mut hash = DefaultHasher::new();
    made.add(&mut hash);
    for (name, path) in sorted(root)? {
        let aside = ASIDE.contains(&name.as_str())
            || Path::new(&name).extension().is_some_and(|ext| ext == "md");
        if !aside {
            add(&mut hash, &name, &path)?;
        }
    }
    Ok(format!("{:016x}", hash.finish()))
}

fn add(hash: &mut DefaultHasher, name: &str, path: &Path) -> io::Result<()> {
    write(hash, name.as_bytes());
    if path.is_dir() {
        for (name, path) in sorted(path)? {
            add(hash, &name, &path)?;
        }
        hash.write_u8(0);
    } else {
        write(hash, &fs::read(path)?);
    }
    Ok(())
}

/// The length first, so that neighbouring names and contents cannot be confused.
fn write(hash: &mut DefaultHasher, bytes: &[u8]) {
    hash.write_usize(bytes.len());
    hash.write(bytes);
}

fn sorted(dir: &Path) -> io::Result<Vec<(String, std::path::PathBuf)>> {
    let mut all = fs::read_dir(dir)?
        .map(|entry| {
            let entry = entry?;
            Ok((
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            ))
        })
        .collect::<io::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir = env::temp_dir().join(format!("attnscope-{name}-{}", std::process::id()));
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::create_dir_all(dir.join("target")).unwrap();
        fs::create_dir_all(dir.join("xtask/npm")).unwrap();
        fs::write(dir.join("src/a.rs"), "one").unwrap();
        dir
    }

    fn made(compiler: &str, variables: &[(&str, &str)]) -> Made {
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Made {
            compiler: compiler.to_owned(),
            variables: acting(variables.iter().map(own)),
            settings: Vec::new(),
        }
    }

    #[test]
    fn changes_with_contents_and_names_and_not_with_build_output() {
        let dir = folder("print");
        let of = |dir: &Path| super::of(dir, &made("rustc 1", &[])).unwrap();
        let first = of(&dir);
        fs::write(dir.join("target/x"), "built").unwrap();
        fs::write(dir.join("README.md"), "words").unwrap();
        assert_eq!(of(&dir), first);
        fs::write(dir.join("src/a.rs"), "two").unwrap();
        let second = of(&dir);
        assert_ne!(second, first);
        fs::rename(dir.join("src/a.rs"), dir.join("src/b.rs")).unwrap();
        let third = of(&dir);
        assert_ne!(third, second);
        fs::write(dir.join("xtask/npm/size.mjs"), "other").unwrap();
        assert_ne!(of(&dir), third, "how the page is put together");
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn changes_with_the_compiler_and_what_it_is_told() {
        let dir = folder("made");
        let of = |compiler: &str, variables: &[(&str, &str)]| {
            super::of(&dir, &made(compiler, variables)).unwrap()
        };
        let first = of("rustc 1.95.0", &[]);
        assert_eq!(of("rustc 1.95.0", &[]), first);
        assert_ne!(of("rustc 1.96.0", &[]), first);
        let mut seen = vec![first.clone()];
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_OPT_LEVEL",
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "TRUNK_BUILD_PUBLIC_URL",
        ] {
            for value in ["", "1", "2"] {
                let next = of("rustc 1.95.0", &[(name, value)]);
                assert!(!seen.contains(&next), "{name}={value} makes no difference");
                seen.push(next);
            }
        }
        // What cargo sets for every program that it runs, and what moves build output only.
        for name in [
            "CARGO_MANIFEST_DIR",
            "CARGO_PKG_NAME",
            "CARGO_TARGET_DIR",
            "PATH",
        ] {
            assert_eq!(of("rustc 1.95.0", &[(name, "x")]), first, "{name}");
        }
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn here_there_is_a_compiler_that_says_its_version() {
        let here = Made::here(&crate::files::root());
        assert!(here.compiler.contains("release: "), "{}", here.compiler);
        assert!(!here.settings.is_empty());
    }
}
