//! Copies a text; where the clipboard refuses, shows the text to copy by hand.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use crate::state::AppState;
use crate::state::problem::Problem;

/// Copies `text`; then `copied` holds `which` for two seconds.
pub fn copy(
    app: AppState,
    copied: RwSignal<Option<&'static str>>,
    which: &'static str,
    text: String,
) {
    spawn_local(async move {
        // A page without a secure context has no clipboard: reading it throws.
        let clipboard = js_sys::Reflect::get(&window().navigator(), &"clipboard".into())
            .ok()
            .filter(|it| !it.is_undefined());
        let done = match clipboard {
            Some(_) => JsFuture::from(window().navigator().clipboard().write_text(&text))
                .await
                .is_ok(),
            None => false,
        };
        if done {
            copied.set(Some(which));
            set_timeout(move || copied.set(None), std::time::Duration::from_secs(2));
        } else {
            app.tell(|_| false, vec![Problem::Clipboard(text)]);
        }
    });
}
