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
pub mod painter;
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
pub mod table;
pub mod toolbar;
pub mod worker;

use leptos::prelude::*;

/// Starts the page, or the worker when there is no window.
pub fn start() {
    std::panic::set_hook(Box::new(panicked));
    if worker::serve() {
        return;
    }
    let (scene, problems) = address::read();
    let state = state::AppState::new(scene, embedded());
    state.problems.set(problems);
    // leptos brings the owner of all signals; the nodes are ours.
    mount_to_body(move || markup::mount(&markup::view! { <app::App app=state /> }));
}

/// A bug: the instance answers no more, which must not go unseen. The picture stays.
fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    console_error_panic_hook::hook(info);
    let document = leptos::web_sys::window().and_then(|window| window.document());
    let Some(document) = document else {
        return; // In the worker; the page falls back by itself.
    };
    host::tell_state("panicked");
    if let Some(place) = document.get_element_by_id("boot-problem") {
        let zh = document
            .document_element()
            .and_then(|root| root.get_attribute("lang"));
        let lang = crate::words::language(&zh.unwrap_or_default());
        place.set_text_content(Some(crate::words::page::PANICKED.pick(lang)));
        // Only a malformed name is refused.
        let _ = place.remove_attribute("hidden");
    }
}

/// Whether this page is the embedded one.
fn embedded() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.has_attribute("data-embed"))
}
