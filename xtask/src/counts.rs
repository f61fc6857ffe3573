//! How many tests passed, over several runners.

use std::fmt;
use std::ops::AddAssign;

/// Passed, failed, skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ran and held.
    pub passed: u64,
    /// Ran and did not hold, or could not run.
    pub failed: u64,
    /// Left out, each with a reason in the test.
    pub skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// A line of `cargo test`: `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; …`.
pub fn cargo_line(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| {
        numbers.split(';').find_map(|part| {
            let (number, name) = part.trim().split_once(' ')?;
            (name == word).then(|| number.parse().ok())?
        })
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
        skipped: number("ignored")?,
    })
}

/// The summary that Node's test runner writes in TAP: `# pass 3`, `# fail 0`, `# cancelled 0`,
/// `# skipped 1`, `# todo 0`.
///
/// `None` when a line is missing: the runner did not come to its end.
pub fn tap(text: &str) -> Option<Counts> {
    let number = |word: &str| {
        // The last one: a test may print lines of this form itself.
        text.lines().rev().find_map(|line| {
            let (name, number) = line.strip_prefix("# ")?.split_once(' ')?;
            (name == word).then(|| number.trim().parse::<u64>().ok())?
        })
    };
    Some(Counts {
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
        let line = "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s";
        assert_eq!(
            cargo_line(line),
            Some(Counts {
                passed: 12,
                failed: 2,
                skipped: 1
            })
        );
        assert_eq!(cargo_line("test a::b ... ok"), None);
        let text = "TAP version 13\n# pass 99\nok 1 - a\n1..1\n# tests 5\n# suites 0\n# pass 3\n# fail 1\n# cancelled 1\n# skipped 2\n# todo 1\n# duration_ms 7.1\n";
        assert_eq!(
            tap(text),
            Some(Counts {
                passed: 3,
                failed: 2,
                skipped: 3
            })
        );
        assert_eq!(tap("TAP version 13\n# pass 3\n"), None);
    }
}
