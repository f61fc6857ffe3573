//! The share menu: the link and the embed code.

use leptos::prelude::*;

use crate::components::clipboard::copy;
use crate::components::rich_text::rich;
use crate::state::AppState;
use crate::state::derived::{Derived, t};
use attnscope_scene::Scene;
use attnscope_text::{Text, page as words};

/// Address of the folder that the page is served from.
fn base() -> String {
    let location = window().location();
    let origin = location.origin().unwrap_or_default();
    let path = location.pathname().unwrap_or_default();
    let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
    format!("{origin}{folder}")
}

/// The address of the full page with this Scene.
pub fn link(scene: &Scene) -> String {
    format!("{}#{}", base(), scene.to_fragment())
}

/// Rights of an embed: run, and open the full page in a tab outside the sandbox. Without the last
/// two a browser ignores the embed's own link.
const SANDBOX: &str = "allow-scripts allow-popups allow-popups-to-escape-sandbox";

/// An iframe with this Scene. Of the fragment's characters only `&` needs escaping.
pub fn embed_code(scene: &Scene, title: &str) -> String {
    let mut scene = scene.clone();
    // The host page's reader decides about light and dark, unless the author did.
    scene.lesson = None;
    let fragment = scene.to_fragment().replace('&', "&amp;");
    format!(
        "<iframe src=\"{}embed.html#{fragment}\" title=\"{title}\" sandbox=\"{SANDBOX}\" \
         loading=\"lazy\" width=\"100%\" height=\"640\"></iframe>",
        base()
    )
}

/// The share menu.
#[component]
pub fn Share() -> impl IntoView {
    let app = AppState::get();
    let copied = RwSignal::new(None::<&'static str>);
    let lang = Derived::get().lang;
    let title = move || words::TITLE.pick(lang.get_untracked());
    let item = move |which: &'static str, label: Text, text: fn(&Scene, &str) -> String| {
        view! {
            <li>
                <button
                    type="button"
                    id=which
                    on:click=move |_| copy(app, copied, which, text(&untrack(|| app.shown()), title()))
                >
                    {t(label)}
                    <span class="copied" role="status">
                        {rich(move || {
                            let done = copied.get() == Some(which);
                            if done { words::COPIED.pick(lang.get()) } else { "" }
                        })}
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
