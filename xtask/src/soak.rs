//! `cargo xtask soak`: wears the page out and prints what it keeps. Takes an hour; the test command
//! runs a short form of it.

use crate::build;
use crate::files;
use crate::run::Run;
use crate::say::{self, Outcome};
use crate::system;
use crate::test;

/// `cargo xtask soak [chromium|firefox]… [changes [mounts]]`.
///
/// # Errors
/// When the page cannot be built or a browser does not start.
pub fn main(args: &[String]) -> Outcome {
    system::ensure()?;
    build::page()?;
    test::prepare_browser_tests()?;
    say::step(
        "wearing the page out",
        "2,000 random Scenes and 200 mounts, unless told otherwise: memory, buffers, errors",
    );
    let mut run = Run::new("node", &["soak.mjs"]).dir(files::root().join("e2e"));
    for arg in args {
        run = run.arg(arg);
    }
    run.show()
}
