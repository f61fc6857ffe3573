//! The project's commands: `cargo xtask serve | build | test | mutants | bench | soak`.
//!
//! Every step says what it does and why, is skipped when it is done already, and when it fails
//! names the command to run by hand.

mod bench;
mod browsers;
mod build;
mod counts;
mod files;
mod fingerprint;
mod mutants;
mod run;
mod say;
mod serve;
mod server;
mod soak;
mod system;
mod test;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask <command>

  serve [--no-open] [--port N] [--host ADDRESS]
          set up what is missing, build the page, serve it and open the browser
          (127.0.0.1:8080, or the next free port)
  build   set up what is missing and build the page into dist/
  test    formatting, lints, native tests on a Vulkan adapter, release build, size budget,
          browser tests in Chromium and Firefox; the last line is the total
  mutants put known errors into the shaders and print by which check each is caught
  bench   time the page in Chromium and Firefox and print a table
  soak    wear the page out (2,000 Scenes, 200 mounts) and print what it keeps
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    let outcome = match args.first().map(String::as_str) {
        Some("serve") => serve::main(rest),
        Some("build") => no_arguments(rest).and_then(|()| build::main()),
        Some("test") => no_arguments(rest).and_then(|()| test::main()),
        Some("mutants") => no_arguments(rest).and_then(|()| mutants::main()),
        Some("bench") => bench::main(rest),
        Some("soak") => soak::main(rest),
        Some("help" | "--help" | "-h") | None => {
            print!("{USAGE}");
            Ok(())
        }
        Some(other) => Err(say::Failure::new(
            format!("there is no command '{other}'"),
            "cargo xtask help",
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::FAILURE
        }
    }
}

/// Refuses arguments where none are understood, so that a typing error is not ignored.
fn no_arguments(rest: &[String]) -> say::Outcome {
    match rest.first() {
        None => Ok(()),
        Some(odd) => Err(say::Failure::new(
            format!("'{odd}' is not understood here"),
            "cargo xtask help",
        )),
    }
}
