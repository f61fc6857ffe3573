//! `cargo xtask mutants`: wrong kernels, and by what each is caught.

use std::fs;

use crate::files;
use crate::run::Run;
use crate::say::{self, Failure, Outcome};
use crate::system;

/// `cargo xtask mutants`. Prints a Markdown table.
///
/// # Errors
/// When a wrong kernel is not caught, a patch no longer applies to the real one, or there is no
/// Vulkan driver to run them on.
pub fn main() -> Outcome {
    system::ensure()?;
    say::step(
        "wrong kernels",
        "each error of tests/mutants/list.txt is put into the real WGSL and must fail a check",
    );
    let table = files::target().join("mutants.md");
    let _ = fs::remove_file(&table);
    let args = [
        "test",
        "--locked",
        "--test",
        "gpu_mutants",
        "--",
        "--nocapture",
    ];
    let run = Run::new("cargo", &args).env("ATTNSCOPE_MUTANTS", &table);
    let run = crate::test::with_runtime_dir(run);
    let ended = run.lines(|_| {})?;
    let missing = |_| Failure::new("the tests wrote no table", run.by_hand());
    println!("\n{}", fs::read_to_string(&table).map_err(missing)?);
    if ended {
        Ok(())
    } else {
        Err(Failure::new(
            "a wrong kernel was not caught, or a patch does not apply",
            run.by_hand(),
        ))
    }
}
