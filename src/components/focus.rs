//! Where the focus goes.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Gives the focus to the element of an id, if it is there and takes it.
pub fn focus(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        let _ = element.unchecked_ref::<HtmlElement>().focus();
    }
}
