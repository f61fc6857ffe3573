//! Counts passed tests over several runners.

use std::fmt;
use std::ops::AddAssign;

use anyhow::Result;

/// Passed, failed, skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Ran and passed.
    pub passed: u64,
    /// Ran and failed, or could not run.
    pub failed: u64,
    /// Skipped, each with a reason in the test.
    pub skipped: u64,
}

impl Totals {
    /// Counts one check.
    pub fn check(&mut self, outcome: &Result<()>) {
        if self.set_up(outcome) {
            self.passed += 1;
        }
    }

    /// Counts a step that is not a test: only its failure. Returns whether it succeeded.
    pub fn set_up(&mut self, outcome: &Result<()>) -> bool {
        if let Err(why) = outcome {
            eprintln!("\nfailed: {why:#}");
            self.failed += 1;
        }
        outcome.is_ok()
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// A line of `cargo test`: `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; …`.
pub fn of_cargo(line: &str) -> Option<Totals> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| {
        let mut parts = numbers.split("; ").filter_map(|part| part.split_once(' '));
        parts.find(|(_, name)| *name == word)?.0.parse().ok()
    };
    Some(Totals {
        passed: number("passed")?,
        failed: number("failed")?,
        skipped: number("ignored")?,
    })
}

/// The summary that Node's test runner writes in TAP: `# pass 3`, `# fail 0`, `# cancelled 0`, `#
/// skipped 1`, `# todo 0`. `None` when a line is missing: the runner did not finish.
pub fn of_tap(text: &str) -> Option<Totals> {
    let number = |word: &str| {
        // The last match: a test may print such lines itself.
        let mut lines = text
            .lines()
            .rev()
            .filter_map(|line| line.strip_prefix("# ")?.split_once(' '));
        lines
            .find(|(name, _)| *name == word)?
            .1
            .trim()
            .parse::<u64>()
            .ok()
    };
    Some(Totals {
        passed: number("pass")?,
        failed: number("fail")? + number("cancelled")?,
        skipped: number("skipped")? + number("todo")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_runners() {
        let total = |passed, failed, skipped| {
            Some(Totals {
                passed,
                failed,
                skipped,
            })
        };
        let line = "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s";
        assert_eq!(of_cargo(line), total(12, 2, 1));
        assert_eq!(of_cargo("test a::b ... ok"), None);
        let text = "TAP version 13\n# pass 99\nok 1 - a\n1..1\n# tests 5\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 2\n# todo 1\n# duration_ms 7.1\n";
        assert_eq!(of_tap(text), total(3, 2, 3));
        assert_eq!(of_tap("TAP version 13\n# pass 3\n"), None);
    }
}
