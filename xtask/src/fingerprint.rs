//! One number over everything that goes into the page, so that an unchanged page is not built
//! again.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::Path;

/// Folders and files of the root that do not go into the page. All others do: forgetting one here
/// costs a build, forgetting one in a list of inputs would serve an old page.
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
    "xtask",
];

/// The fingerprint of the project at `root`, from names and contents.
///
/// # Errors
/// When a file cannot be read.
pub fn of(root: &Path) -> io::Result<String> {
    let mut hash = DefaultHasher::new();
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
    // Lengths first, so that neighbouring names and contents cannot be confused.
    hash.write_usize(name.len());
    hash.write(name.as_bytes());
    if path.is_dir() {
        for (name, path) in sorted(path)? {
            add(hash, &name, &path)?;
        }
        hash.write_u8(0);
    } else {
        let bytes = fs::read(path)?;
        hash.write_usize(bytes.len());
        hash.write(&bytes);
    }
    Ok(())
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

    #[test]
    fn changes_with_contents_and_names_and_not_with_build_output() {
        let dir = std::env::temp_dir().join(format!("attnscope-print-{}", std::process::id()));
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::create_dir_all(dir.join("target")).unwrap();
        fs::write(dir.join("src/a.rs"), "one").unwrap();
        let first = of(&dir).unwrap();
        fs::write(dir.join("target/x"), "built").unwrap();
        fs::write(dir.join("README.md"), "words").unwrap();
        assert_eq!(of(&dir).unwrap(), first);
        fs::write(dir.join("src/a.rs"), "two").unwrap();
        let second = of(&dir).unwrap();
        assert_ne!(second, first);
        fs::rename(dir.join("src/a.rs"), dir.join("src/b.rs")).unwrap();
        assert_ne!(of(&dir).unwrap(), second);
        fs::remove_dir_all(&dir).unwrap();
    }
}
