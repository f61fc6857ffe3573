//! Print: what a sheet of paper needs that the screen does not.

use leptos::prelude::window;
use wasm_bindgen::prelude::*;

use crate::scheduler;

/// The smaller edge that the style sheet gives the map on paper, in CSS pixels. Nobody can measure
/// there: what is printed is laid out after the page's last word.
pub const EDGE: f64 = 420.0;

/// From now on what the map's canvas shows is copied before the page is printed: a canvas of the
/// graphics device is blank on paper.
pub fn copy_map() {
    hear("beforeprint", scheduler::copy_map);
    hear("afterprint", scheduler::drop_copy);
}

/// Whether the page is being printed. Then its media queries tell of the sheet.
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
