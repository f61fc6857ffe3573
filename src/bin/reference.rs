//! `attnscope-reference`: the f64 reference as a native command, for tests of what the page drew
//! and for packing the shipped inputs. On wasm32 there is nothing here.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use std::path::Path;
    use std::process::ExitCode;

    const USAGE: &str = "usage:
  attnscope-reference pack-data <folder of captured files> <folder to write>";

    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match *args {
        ["pack-data", source, target] => {
            attnscope::data::pack::pack(Path::new(source), Path::new(target)).map(|written| {
                for (path, size) in written {
                    println!("{size:>8} {}", path.display());
                }
            })
        }
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {}
