//! The project's commands: `cargo xtask serve | build | test | mutants | bench | soak`.
//!
//! Each sets up what it needs, prints the commands that it runs, and skips what is already done.

mod page;
mod system;
mod test;
mod tools;
mod totals;

use std::process::ExitCode;

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

const USAGE: &str = "\
cargo xtask <command>

  serve [--no-open] [options of `trunk serve`, such as --port N or --address IP]
          build the page, serve it at 127.0.0.1:8080 or the next free port, open the browser
  build   build the page into dist/ and weigh it
  test [lint] [native] [browsers]
          formatting and lints; native tests on a Vulkan adapter; release build, size budget and
          browser tests in Chromium and Firefox; the last line is the total
  mutants put known errors into the shaders and print by which check each is caught
  bench [chromium] [firefox] [cpu] [--dist FOLDER]
          time the page, and the older build in FOLDER; fails when the first map comes late
  soak [chromium] [firefox] [changes [mounts]]
          wear the page out (2,000 Scenes, 200 mounts) and print what it keeps
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    run(&args).unwrap_or_else(|why| {
        eprintln!("\nfailed: {why:#}");
        ExitCode::FAILURE
    })
}

fn run(args: &[String]) -> Result<ExitCode> {
    let sh = &tools::shell()?;
    let Some((command, rest)) = args.split_first() else {
        print!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    };
    match (command.as_str(), rest) {
        ("serve", _) => page::serve(sh, rest)?,
        ("build", []) => page::build(sh)?,
        ("test", _) if rest.iter().all(|part| test::PARTS.contains(&part.as_str())) => {
            return Ok(test::run(sh, rest));
        }
        ("mutants", []) => test::mutants(sh)?,
        ("bench", _) => measure(sh, "bench.mjs", rest)?,
        ("soak", _) => measure(sh, "soak.mjs", rest)?,
        ("help" | "--help" | "-h", _) => print!("{USAGE}"),
        ("build" | "test" | "mutants", [odd, ..]) => bail!("{command} takes no '{odd}'\n\n{USAGE}"),
        _ => bail!("there is no command '{command}'\n\n{USAGE}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the page and runs a script of `e2e/` that measures it.
fn measure(sh: &Shell, script: &str, args: &[String]) -> Result<()> {
    system::ensure(sh)?;
    page::build(sh)?;
    test::prepare_browsers(sh)?;
    let _e2e = sh.push_dir("e2e");
    Ok(cmd!(sh, "node {script} {args...}").run()?)
}

/// Prints a step and why it is needed.
fn step(title: &str, why: &str) {
    println!("▸ {title}\n  {why}");
}
