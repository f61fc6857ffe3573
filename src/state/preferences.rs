//! Sizes of elements and preferences of the browser, as signals.

use leptos::html::{Div, ElementType};
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::prelude::*;

use crate::scheduler::print;
use crate::state::derived::Preferences;
use crate::state::{State, state};
use attnscope_scene::Lang;
use attnscope_scene::link_words::Word as _;

/// Width and height of an element in CSS pixels, followed as long as its owner lives.
pub fn measured(node: NodeRef<Div>) -> RwSignal<(f64, f64)>
where
    <Div as ElementType>::Output: AsRef<web_sys::Element>,
{
    let size = RwSignal::new((0.0, 0.0));
    // Kept here: dropping the closure would leave the observer calling into nothing.
    let held = StoredValue::new_local(
        None::<(web_sys::ResizeObserver, Closure<dyn FnMut(js_sys::Array)>)>,
    );
    Effect::new(move || {
        let Some(element) = node.get() else { return };
        let target: web_sys::Element = element.into();
        let watched = target.clone();
        let on_resize = Closure::<dyn FnMut(js_sys::Array)>::new(move |_| {
            let now = (
                f64::from(watched.client_width()),
                f64::from(watched.client_height()),
            );
            if size.try_get_untracked().is_some_and(|before| before != now) {
                size.set(now);
            }
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref()) {
            observer.observe(&target);
            held.set_value(Some((observer, on_resize)));
        }
    });
    on_cleanup(move || {
        held.try_update_value(|held| {
            if let Some((observer, _)) = held.take() {
                observer.disconnect();
            }
        });
    });
    size
}

/// What the browser asks for: language, theme, width.
pub fn preferences() -> Preferences {
    Preferences {
        lang: asked_language(),
        dark: follow("(prefers-color-scheme: dark)"),
        narrow: follow("(max-width: 899px)"),
    }
}

/// `?lang=`, else the first language of the browser's list that is one of ours.
pub fn asked_language() -> Lang {
    let window = window();
    let query = window.location().search().unwrap_or_default();
    let asked = web_sys::UrlSearchParams::new_with_str(&query)
        .ok()
        .and_then(|params| params.get("lang"));
    let browser = window.navigator().languages();
    asked
        .into_iter()
        .chain(browser.iter().filter_map(|tag| tag.as_string()))
        .find_map(|tag| attnscope_text::known(&tag))
        .unwrap_or(Lang::WORDS[0].0)
}

/// Whether a media query holds, now and later.
fn follow(query: &str) -> State<bool> {
    let Ok(Some(list)) = window().match_media(query) else {
        return state(false);
    };
    let holds = state(list.matches());
    let watched = list.clone();
    let on_change = Closure::<dyn FnMut()>::new(move || {
        // What holds for a sheet of paper says nothing about the screen.
        if !print::is_under_way() {
            holds.set(watched.matches());
        }
    });
    list.set_onchange(Some(on_change.as_ref().unchecked_ref()));
    // The page follows its media queries for as long as it lives.
    on_change.forget();
    std::mem::forget(list);
    holds
}
