//! Where the focus goes.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// Focuses the element with this id, if it exists and can take the focus.
pub fn focus(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        let _ = element.unchecked_ref::<HtmlElement>().focus();
    }
}
