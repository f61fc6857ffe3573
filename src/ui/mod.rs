//! The page.
/// Starts the page.
pub fn start() {}
