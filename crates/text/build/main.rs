//! Converts the languages to Rust before the crate is compiled.

mod words;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    languages(&Path::new(&out).join("words"))
}

fn languages(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../lang");
    match words::generate(&words::files(Path::new("../../lang"))?) {
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
