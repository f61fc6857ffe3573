//! Before the crate is compiled: the languages become Rust, and the shaders are shortened for the
//! page, where nobody reads them and the first picture waits for every byte.

mod wgsl;
mod words;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    languages(&Path::new(&out).join("words"))?;
    shaders(Path::new(&out))
}

fn languages(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=lang");
    let mut files = Vec::new();
    for entry in fs::read_dir("lang")? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.extension().is_some_and(|end| end == "json") {
            files.push((name.into_owned(), fs::read_to_string(&path)?));
        }
    }
    match words::generate(&files) {
        Ok(made) => {
            fs::create_dir_all(out)?;
            made.into_iter()
                .try_for_each(|(name, text)| fs::write(out.join(name), text))
        }
        Err(wrong) => {
            for line in wrong.lines() {
                println!("cargo::error={line}");
            }
            Ok(())
        }
    }
}

fn shaders(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=shaders");
    for folder in ["", "shared"] {
        let to = out.join(folder);
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(Path::new("shaders").join(folder))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                fs::write(to.join(name), wgsl::short(&fs::read_to_string(&path)?))?;
            }
        }
    }
    Ok(())
}
