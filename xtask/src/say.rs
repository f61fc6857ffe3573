//! What the commands print, and the one kind of failure.

use std::io::IsTerminal;

/// A step that did not work, and what to run by hand.
#[derive(Debug)]
pub struct Failure {
    what: String,
    by_hand: String,
    /// Already told in the output above: only the exit status is left to set.
    quiet: bool,
}

/// What every step returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// `what` went wrong; `by_hand` is a command or a sentence that says what to do.
    pub fn new(what: impl Into<String>, by_hand: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            by_hand: by_hand.into(),
            quiet: false,
        }
    }

    /// The failures were printed where they happened.
    pub fn told() -> Self {
        Self {
            what: String::new(),
            by_hand: String::new(),
            quiet: true,
        }
    }

    /// Tells it on standard error.
    pub fn print(&self) {
        if !self.quiet {
            eprintln!("\n{} {}", paint("31;1", "failed:"), self.what);
            eprintln!("{} {}", paint("1", "by hand:"), self.by_hand);
        }
    }
}

/// Announces a step and why it is needed.
pub fn step(title: &str, why: &str) {
    println!("{} {title}", paint("36;1", "▸"));
    println!("  {why}");
}

/// One line for a step that had nothing to do.
pub fn done(what: &str) {
    println!("{} {what}", paint("32", "✓"));
}

/// A remark inside a step.
pub fn note(what: &str) {
    println!("  {what}");
}

fn paint(code: &str, text: &str) -> String {
    if std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}
