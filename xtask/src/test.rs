//! `cargo xtask test`: everything that must hold, and the total as the last line.

use std::fs;

use crate::build;
use crate::counts::{self, Counts};
use crate::files;
use crate::run::Run;
use crate::say::{self, Failure, Outcome};
use crate::system;
use crate::tools;

/// `cargo xtask test`. Goes on after a failure, so that one run shows all of them. Formatting,
/// each lint run and the page within its budget count as one test each.
///
/// # Errors
/// When anything failed; it was printed where it happened.
pub fn main() -> Outcome {
    let mut total = Counts::default();
    let ready = set_up();
    if check(&mut total, ready) {
        total += checks();
        total += native();
        match build::compile() {
            Ok(fresh) => {
                // A page above its budget is a failure, and can be tested all the same.
                let weighed = fresh.map_or(Ok(()), build::accept);
                if check(&mut total, weighed) {
                    total.passed += 1;
                }
                total += browsers();
            }
            Err(failure) => {
                failure.print();
                total.failed += 1;
                say::note("without a page the browser tests cannot run");
            }
        }
    }
    println!("\n{total}");
    if total.failed == 0 {
        Ok(())
    } else {
        Err(Failure::told())
    }
}

fn set_up() -> Outcome {
    tools::node()?;
    system::ensure()?;
    tools::component("fmt", "rustfmt")?;
    tools::component("clippy", "clippy")?;
    tools::ensure()
}

/// Counts one step; set-up steps that hold are no tests and are not counted.
fn check(total: &mut Counts, outcome: Outcome) -> bool {
    match outcome {
        Ok(()) => true,
        Err(failure) => {
            failure.print();
            total.failed += 1;
            false
        }
    }
}

fn checks() -> Counts {
    let lint = ["--", "-D", "warnings"];
    let runs: [(&str, &[&str]); 3] = [
        ("formatting", &["fmt", "--all", "--check"]),
        (
            "lints of the native build",
            &["clippy", "--workspace", "--all-targets", "--locked"],
        ),
        (
            "lints of the page",
            &[
                "clippy",
                "--lib",
                "--bins",
                "--locked",
                "--target",
                "wasm32-unknown-unknown",
            ],
        ),
    ];
    let mut total = Counts::default();
    for (title, args) in runs {
        say::step(title, "one style, and no warning left to read past");
        let mut run = Run::new("cargo", args);
        if args[0] == "clippy" {
            for part in lint {
                run = run.arg(part);
            }
        }
        if check(&mut total, run.show()) {
            total.passed += 1;
        }
    }
    total
}

fn native() -> Counts {
    say::step(
        "native tests",
        "arithmetic against the f64 reference, the shaders on a Vulkan adapter, these commands",
    );
    let run = with_runtime_dir(Run::new(
        "cargo",
        &["test", "--workspace", "--locked", "--no-fail-fast"],
    ));
    let mut total = Counts::default();
    let ended = run.lines(|line| {
        if let Some(counts) = counts::cargo_line(line) {
            total += counts;
        }
    });
    settle(total, ended, &run.by_hand())
}

/// Mesa wants a folder of the user's and warns on every start without one.
pub fn with_runtime_dir(run: Run) -> Run {
    let dir = files::target().join("xdg-runtime");
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && fs::create_dir_all(&dir).is_ok() {
        run.env("XDG_RUNTIME_DIR", dir)
    } else {
        run
    }
}

fn browsers() -> Counts {
    say::step(
        "browser tests",
        "the page as it is built, in real Chromium and real Firefox",
    );
    let mut total = Counts::default();
    if !check(&mut total, prepare_browser_tests()) {
        return total;
    }
    let report = files::target().join("e2e.tap");
    let _ = fs::remove_file(&report);
    let run = Run::new("npm", &["run", "--silent", "test"])
        .dir(files::root().join("e2e"))
        .env("ATTNSCOPE_TAP", &report);
    let ended = run.lines(|_| {});
    match fs::read_to_string(&report)
        .ok()
        .as_deref()
        .and_then(counts::tap)
    {
        Some(counts) => settle(counts, ended, &run.by_hand()),
        None => settle(Counts::default(), ended.map(|_| false), &run.by_hand()),
    }
}

/// Installs the driver of the browsers and builds the reference that judges the page.
///
/// # Errors
/// When either fails.
pub fn prepare_browser_tests() -> Outcome {
    let dir = files::root().join("e2e");
    let wanted = fs::read(dir.join("package-lock.json")).ok();
    let stamp = dir.join("node_modules").join(".attnscope-lock");
    if wanted.is_some() && fs::read(&stamp).ok() == wanted {
        say::done("puppeteer-core");
    } else {
        say::step(
            "fetching puppeteer-core into e2e/node_modules",
            "it drives the browsers that are installed; it brings none of its own",
        );
        tools::npm_ci(&dir)?;
        if let Some(lock) = wanted {
            // Without the stamp the next run installs again, no more.
            let _ = fs::write(stamp, lock);
        }
    }
    say::step(
        "building the f64 reference",
        "it judges the numbers that the page draws",
    );
    Run::new(
        "cargo",
        &["build", "--locked", "--bin", "attnscope-reference"],
    )
    .show()
}

/// A runner that ended badly without a failed test (it did not compile, or died) is a failure.
fn settle(mut counts: Counts, ended: Outcome<bool>, by_hand: &str) -> Counts {
    match ended {
        Ok(true) => {}
        Ok(false) => {
            if counts.failed == 0 {
                counts.failed = 1;
            }
            Failure::new("these tests did not all pass", by_hand).print();
        }
        Err(failure) => {
            counts.failed += 1;
            failure.print();
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_that_dies_is_a_failure() {
        let some = Counts {
            passed: 3,
            failed: 0,
            skipped: 0,
        };
        assert_eq!(settle(some, Ok(true), "").failed, 0);
        assert_eq!(settle(some, Ok(false), "").failed, 1);
        assert_eq!(settle(some, Err(Failure::told()), "").failed, 1);
        let two = Counts { failed: 2, ..some };
        assert_eq!(settle(two, Ok(false), "").failed, 2);
    }
}
