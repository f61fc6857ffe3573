//! Print: what paper needs and the screen does not.

use leptos::prelude::window;
use wasm_bindgen::prelude::*;

use crate::scheduler;

/// The smaller edge that the style sheet gives the map on paper, in CSS pixels. It cannot be
/// measured: the browser lays the sheet out after the last event that the page hears.
pub const EDGE: f64 = 420.0;

/// Copies what the map's canvas shows before each print: a GPU canvas is blank on paper.
pub fn copy_map() {
    hear("beforeprint", scheduler::copy_map);
    hear("afterprint", scheduler::drop_copy);
}

/// The page is being printed. Its media queries then describe the sheet.
pub fn is_under_way() -> bool {
    let list = window().match_media("print").ok().flatten();
    list.is_some_and(|list| list.matches())
}

fn hear(name: &str, act: fn()) {
    let heard = Closure::<dyn Fn()>::new(act);
    let added = window().add_event_listener_with_callback(name, heard.as_ref().unchecked_ref());
    // The page and its listeners end together.
    if added.is_ok() {
        heard.forget();
    }
}
