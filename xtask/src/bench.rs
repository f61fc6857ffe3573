//! `cargo xtask bench`: how long the page takes, as a table. Never a test: times depend on the
//! machine.

use crate::build;
use crate::files;
use crate::run::Run;
use crate::say::{self, Outcome};
use crate::system;
use crate::test;

/// `cargo xtask bench [chromium|firefox]…`.
///
/// # Errors
/// When the page cannot be built or a browser does not start.
pub fn main(args: &[String]) -> Outcome {
    system::ensure()?;
    build::page()?;
    test::prepare_browser_tests()?;
    say::step(
        "timing the page",
        "first map after navigation; input to presented frame over drags of w, s and r; GPU time",
    );
    let mut run = Run::new("node", &["bench.mjs"]).dir(files::root().join("e2e"));
    for arg in args {
        run = run.arg(arg);
    }
    run.show()
}
