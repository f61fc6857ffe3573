//! The page: leptos components over [`state::AppState`], and the driver that brings Scenes to the
//! engine. Compiled for wasm32 only.

pub mod address;
pub mod app;
pub mod axis;
pub mod board;
pub mod calc;
pub mod clipboard;
pub mod controls;
pub mod cost;
pub mod derived;
pub mod driver;
pub mod header;
pub mod host;
pub mod inspector;
pub mod legend;
pub mod lesson;
pub mod loader;
pub mod markup;
pub mod measure;
pub mod memo;
pub mod output;
pub mod pointer;
pub mod problem;
pub mod problems;
pub mod reach;
pub mod sentence;
pub mod share;
pub mod side;
pub mod source;
pub mod state;
pub mod status;
pub mod strip;
pub mod worker;

use leptos::prelude::*;

/// Starts the page, or the worker when there is no window.
pub fn start() {
    console_error_panic_hook::set_once();
    if worker::serve() {
        return;
    }
    let (scene, problems) = address::read();
    let state = state::AppState::new(scene, embedded());
    state.problems.set(problems);
    // leptos brings the owner of all signals; the nodes are ours.
    mount_to_body(move || markup::mount(&markup::view! { <app::App app=state /> }));
}

/// Whether this page is the embedded one.
fn embedded() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.has_attribute("data-embed"))
}
