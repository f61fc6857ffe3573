//! Which browsers the browser tests will use. The rule itself is in `e2e/browsers.mjs`.

use crate::run::Run;

/// Whether the browser tests find `name` ("chromium" or "firefox").
pub fn found(name: &str) -> bool {
    Run::new("node", &["e2e/browsers.mjs", name])
        .text()
        .is_some()
}
