//! The page: leptos components over [`state::AppState`], and the driver that brings Scenes to the
//! engine. Compiled for wasm32 only.

pub mod address;
pub mod app;
pub mod axis;
pub mod board;
pub mod chunks;
pub mod clipboard;
pub mod compute_client;
pub mod compute_worker;
pub mod controls;
pub mod cost;
pub mod cpu_worker;
pub mod derived;
pub mod driver;
pub mod focus;
pub mod header;
pub mod host;
pub mod inspector;
pub mod legend;
pub mod lesson;
pub mod limits;
mod loader;
pub mod long_lived;
pub mod measure;
pub mod output;
pub mod paper;
pub mod pointer;
pub mod problem;
pub mod problems;
pub mod quiet;
pub mod reach;
pub mod rich_text;
pub mod sentence;
pub mod share;
pub mod side;
pub mod source;
pub mod state;
pub mod status;
pub mod strip;
pub mod table;
pub mod toolbar;
pub mod worker;

use js_sys::{Function, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

/// Starts the page.
pub fn start() {
    std::panic::set_hook(Box::new(panicked));
    let (scene, problems) = address::read();
    let state = state::AppState::new(scene, embedded());
    state.problems.set(problems);
    mount_to_body(move || view! { <app::App app=state /> });
}

/// A bug: the instance answers no more, which must not go unseen. What is to be said and done then is
/// `www/boot.js`, which depends on nothing here.
fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    console_error_panic_hook::hook(info);
    let stopped = Reflect::get(&js_sys::global(), &"attnscopeStopped".into());
    if let Ok(stopped) = stopped.and_then(JsCast::dyn_into::<Function>) {
        let report = format!("attnscope {}: {info}", env!("CARGO_PKG_VERSION"));
        // Whoever throws here is no help.
        let _ = stopped.call1(&JsValue::UNDEFINED, &report.into());
    }
}

/// Whether this page is the embedded one.
fn embedded() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.has_attribute("data-embed"))
}
