//! `cargo xtask test`: runs every check and prints the total as the last line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use xshell::{Cmd, Shell, cmd};

use crate::totals::{self, Totals};
use crate::{page, step, system, tools};

/// Parts that can be run by name.
pub const PARTS: [&str; 3] = ["lint", "native", "browsers"];

/// Runs these parts, or all. Continues after a failure, so that one run shows all failures.
/// Formatting, each lint run and the page within its budget count as one test each.
pub fn run(sh: &Shell, parts: &[String]) -> ExitCode {
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let mut total = Totals::default();
    let needs_system = wants("native") || wants("browsers");
    if !needs_system || total.set_up(&system::ensure(sh)) {
        if wants("lint") {
            let wasm = ["--lib", "--bins", "--target", "wasm32-unknown-unknown"];
            total.check(&formatting(sh));
            total.check(&lints(sh, &["--workspace", "--all-targets"]));
            total.check(&lints(sh, &wasm));
        }
        if wants("native") {
            total += settle(native(sh));
        }
        if wants("browsers") && total.set_up(&page::compile(sh)) {
            // A page above its budget is a failure, but the tests still run on it.
            total.check(&page::weigh(sh));
            total += settle(browsers(sh));
        }
    }
    println!("\n{total}");
    ExitCode::from(u8::from(total.failed > 0))
}

fn formatting(sh: &Shell) -> Result<()> {
    step("formatting", "one style");
    Ok(cmd!(sh, "cargo fmt --all --check").run()?)
}

fn lints(sh: &Shell, of: &[&str]) -> Result<()> {
    step("lints", "no warning is left to read past");
    Ok(cmd!(sh, "cargo clippy --locked {of...} -- -D warnings").run()?)
}

fn native(sh: &Shell) -> Result<(Totals, bool)> {
    step(
        "native tests",
        "arithmetic against the f64 reference, the shaders on a Vulkan adapter, these commands",
    );
    let mut total = Totals::default();
    let tests = cmd!(sh, "cargo test --workspace --locked --no-fail-fast");
    let ended_well = lines(tests, |line| {
        total += totals::of_cargo(line).unwrap_or_default();
    })?;
    Ok((total, ended_well))
}

fn browsers(sh: &Shell) -> Result<(Totals, bool)> {
    step(
        "browser tests",
        "the page as it is built, in real Chromium and real Firefox",
    );
    prepare_browsers(sh)?;
    let report = tools::target().join("e2e.tap");
    sh.remove_path(&report)?;
    let ended_well = cmd!(sh, "node e2e/run.mjs")
        .env("ATTNSCOPE_TAP", &report)
        .run()
        .is_ok();
    let total = sh
        .read_file(&report)
        .ok()
        .as_deref()
        .and_then(totals::of_tap);
    Ok((
        total.context("the browser tests did not come to their end")?,
        ended_well,
    ))
}

/// Installs the browser driver and builds the reference that judges the page.
pub fn prepare_browsers(sh: &Shell) -> Result<()> {
    tools::npm_packages(
        sh,
        "e2e",
        "puppeteer-core drives the browsers that are installed",
    )?;
    step(
        "building the f64 reference",
        "it judges the numbers that the page draws",
    );
    Ok(cmd!(sh, "cargo build --locked --bin attnscope-reference").run()?)
}

/// `cargo xtask mutants`: wrong shaders, and what catches each, as a Markdown table.
pub fn mutants(sh: &Shell) -> Result<()> {
    system::ensure(sh)?;
    step(
        "wrong shaders",
        "each error of tests/mutants/list.txt is put into the real WGSL and must fail a check",
    );
    let table = tools::target().join("mutants.md");
    sh.remove_path(&table)?;
    let tests = cmd!(sh, "cargo test --locked --test gpu_mutants -- --nocapture");
    let ended = tests.env("ATTNSCOPE_MUTANTS", &table).run();
    println!(
        "\n{}",
        sh.read_file(&table).context("the tests wrote no table")?
    );
    ended.context("a wrong shader was not caught, or a patch does not apply")
}

/// Runs a command with its output on screen and passes every line of standard output to `take`.
/// Returns whether it succeeded.
fn lines(cmd: Cmd<'_>, mut take: impl FnMut(&str)) -> Result<bool> {
    println!("$ {cmd}");
    let mut child = Command::from(cmd).stdout(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(child.stdout.take().context("no output")?);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        // A closed terminal must not stop the tests.
        let _ = std::io::stdout().write_all(&line);
        take(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(child.wait()?.success())
}

/// A runner that fails without a failed test (it did not compile, or crashed) is a failure.
fn settle(ended: Result<(Totals, bool)>) -> Totals {
    let checked = ended.and_then(|(total, ended_well)| {
        if !ended_well && total.failed == 0 {
            bail!("the tests ended badly after {total}");
        }
        Ok(total)
    });
    checked.unwrap_or_else(|why| {
        let mut total = Totals::default();
        total.check(&Err(why));
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_runner_that_dies_is_a_failure() {
        let some = Totals {
            passed: 3,
            ..Totals::default()
        };
        assert_eq!(settle(Ok((some, true))).failed, 0);
        assert_eq!(settle(Ok((some, false))).failed, 1);
        assert_eq!(settle(Err(anyhow!("it did not start"))).failed, 1);
        let two = Totals { failed: 2, ..some };
        assert_eq!(settle(Ok((two, false))).failed, 2);
    }
}
