//! The page: leptos components over [`state::AppState`], and the driver that brings Scenes to the
//! engine. Compiled for wasm32 only.

pub mod problem;
pub mod state;

/// Starts the page, or the worker when there is no window.
pub fn start() {
    console_error_panic_hook::set_once();
}
