//! Generates `Lang` from the names of the files in `lang/`; the build of the texts compares their
//! contents.

#[path = "../text/build/words.rs"]
#[allow(dead_code)]
mod words;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../lang");
    println!("cargo::rerun-if-changed=../text/build");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let made =
        words::generate(&words::files(Path::new("../../lang"))?).map_err(io::Error::other)?;
    let lang = made.iter().find(|(name, _)| *name == "lang.rs");
    let (_, text) = lang.ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("lang.rs"), text)
}
