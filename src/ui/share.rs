//! Copying the link and the embed code; where the clipboard refuses, the text to copy by hand.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use crate::scene::Scene;
use crate::ui::derived::t;
use crate::ui::markup::{View, view};
use crate::ui::problem::Problem;
use crate::ui::state::AppState;
use crate::words::{Text, page as words};

/// Address of the folder that the page is served from.
fn base() -> String {
    let location = window().location();
    let origin = location.origin().unwrap_or_default();
    let path = location.pathname().unwrap_or_default();
    let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
    format!("{origin}{folder}")
}

/// The full page with this Scene.
pub fn link(scene: &Scene) -> String {
    format!("{}#{}", base(), scene.to_fragment())
}

/// An iframe with this Scene. The fragment holds only characters that need no escaping but `&`.
pub fn embed_code(scene: &Scene, title: &str) -> String {
    let mut scene = scene.clone();
    // The reader's page decides about light and dark unless the author did.
    scene.lesson = None;
    let fragment = scene.to_fragment().replace('&', "&amp;");
    format!(
        "<iframe src=\"{}embed.html#{fragment}\" title=\"{title}\" sandbox=\"allow-scripts\" \
         loading=\"lazy\" width=\"100%\" height=\"560\"></iframe>",
        base()
    )
}

/// The share menu.
#[component(transparent)]
pub fn Share() -> View {
    let app = AppState::get();
    let copied = RwSignal::new(None::<&'static str>);
    let title = t(words::TITLE);
    let copy = move |which: &'static str, text: String| {
        spawn_local(async move {
            // A page without a secure context has no clipboard at all: reading it then throws.
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
                app.problems
                    .update(|all| all.push(Problem::Clipboard(text)));
            }
        });
    };
    let item = move |which: &'static str, label: Text, text: fn(&Scene, &str) -> String| {
        view! {
            <li>
                <button
                    type="button"
                    id=which
                    on:click=move |_| copy(which, app.scene.with_untracked(|s| text(s, title())))
                >
                    {t(label)}
                    <span class="copied" role="status">
                        {move || (copied.get() == Some(which)).then(t(words::COPIED))}
                    </span>
                </button>
            </li>
        }
    };
    view! {
        <button type="button" class="menu-button" popovertarget="share">
            {t(words::SHARE)}
        </button>
        <div id="share" class="menu" popover="auto">
            <p class="hint">{t(words::SHARE_HINT)}</p>
            <ul>
                {item("copy-link", words::COPY_LINK, |scene, _| link(scene))}
                {item("copy-embed", words::COPY_EMBED, embed_code)}
            </ul>
        </div>
    }
}
