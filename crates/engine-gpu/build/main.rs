//! Shortens the shaders for the page, where nobody reads them and every byte delays the first
//! picture.

mod wgsl;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=../../shaders");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for folder in ["", "shared"] {
        let to = Path::new(&out).join(folder);
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(Path::new("../../shaders").join(folder))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                fs::write(to.join(name), wgsl::short(&fs::read_to_string(&path)?))?;
            }
        }
    }
    Ok(())
}
