//! The few elements that the self-check page is made of.

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use web_sys::Element;

use attnscope_text::symbols::{self, Part};

/// Sets an attribute of the root element.
pub fn set_root(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        set(&root, name, value);
    }
}

/// An element of HTML.
pub fn element(tag: &str, class: &str) -> Element {
    let made = document().create_element(tag).unwrap_throw();
    if !class.is_empty() {
        made.set_class_name(class);
    }
    made
}

/// The same at the end of `of`.
pub fn child(of: &Element, tag: &str, class: &str) -> Element {
    let made = element(tag, class);
    append(of, &made);
    made
}

/// The same with a text in it.
pub fn text(of: &Element, tag: &str, words: &str) -> Element {
    let made = child(of, tag, "");
    say(&made, words);
    made
}

/// Puts a text with its symbols into an element, in the place of what was there.
pub fn say(element: &Element, words: &str) {
    element.set_text_content(None);
    for part in symbols::parts(words) {
        match part {
            Part::Plain(words) => {
                let _ = element.append_with_str_1(words);
            }
            // The space makes two words of it for whoever hears it; it takes no room.
            Part::Below(words) => {
                text(element, "sub", &format!(" {words}"));
            }
            Part::Code(words) => {
                text(element, "code", words);
            }
        }
    }
}

/// Puts `node` at the end of `to`.
pub fn append(to: &Element, node: &Element) {
    // Only a node above itself is refused.
    let _ = to.append_child(node);
}

/// Sets an attribute.
pub fn set(element: &Element, name: &str, value: &str) {
    // Only a malformed name is refused, and ours are not.
    let _ = element.set_attribute(name, &symbols::spoken(value));
}

/// In the dialog of the full page Escape closes it, also while the focus is in here.
pub fn close_on_escape() {
    let Ok(Some(frame)) = window().frame_element() else {
        return;
    };
    let pressed =
        Closure::<dyn FnMut(web_sys::KeyboardEvent)>::new(move |event: web_sys::KeyboardEvent| {
            let dialog = frame.closest("dialog").ok().flatten();
            if let (Some(dialog), "Escape") = (dialog, &*event.key()) {
                dialog
                    .unchecked_into::<web_sys::HtmlDialogElement>()
                    .close();
            }
        });
    let heard = pressed.as_ref().unchecked_ref();
    // The page and its listener end together.
    if window()
        .add_event_listener_with_callback("keydown", heard)
        .is_ok()
    {
        pressed.forget();
    }
}
