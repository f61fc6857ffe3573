//! The page: leptos components over [`state::AppState`], and the driver that brings Scenes to the
//! engine. Compiled for wasm32 only.

pub mod address;
pub mod calc;
pub mod driver;
pub mod host;
pub mod loader;
pub mod problem;
pub mod state;
pub mod worker;

/// Starts the page, or the worker when there is no window.
pub fn start() {
    console_error_panic_hook::set_once();
    if worker::serve() {
        return;
    }
    leptos::mount::mount_to_body(app::App);
}
