//! The page: leptos components over [`state::AppState`], and the driver that brings Scenes to the
//! engine. Compiled for wasm32 only.

pub mod app;
pub mod axis;
pub mod board;
pub mod controls;
pub mod cost;
pub mod derived;
// Until the driver is complete the page stands without an engine.
#[path = "stub.rs"]
pub mod driver;
pub mod header;
pub mod inspector;
pub mod legend;
pub mod lesson;
pub mod measure;
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

use leptos::prelude::*;

/// Starts the page.
pub fn start() {
    console_error_panic_hook::set_once();
    let scene =
        crate::scene::Scene::from_fragment(&window().location().hash().unwrap_or_default()).scene;
    let state = state::AppState::new(scene, false);
    mount_to_body(move || view! { <app::App app=state /> });
}
