//! The layout of the page, and of the embedded page.

use js_sys::{Function, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::components::board::Board;
use crate::components::controls::{Controls, is_shown};
use crate::components::focus::focus;
use crate::components::header::Header;
use crate::components::lesson::Lesson;
use crate::components::problems::Problems;
use crate::components::sentence::{Sentence, spoken};
use crate::components::share;
use crate::components::side::Side;
use crate::components::source::SourcePick;
use crate::components::status::{Badge, Status};
use crate::host;
use crate::scheduler;
use crate::state::AppState;
use crate::state::address;
use crate::state::derived::{Derived, part, t};
use crate::state::limits;
use crate::state::preferences::preferences;
use attnscope_scene::{Control, Theme};
use attnscope_text::{language as about, page as words};

/// The page. Provides [`AppState`] and [`Derived`] to everything inside.
#[component]
pub fn App(
    /// The state; the scheduler writes to the same.
    app: AppState,
) -> impl IntoView {
    provide_context(app);
    let derived = Derived::new(app, preferences());
    provide_context(derived);
    reach_outside(derived);
    scheduler::start(app);
    address::follow(app);
    limits::tell(app);
    let said = spoken(app, derived);
    Effect::new(move || {
        let cell = said.with(|said| said.cell);
        if app.spoken.get_untracked() != cell {
            app.spoken.set(cell);
        }
    });
    host::expose(app, said);
    if app.embedded {
        view! { <Embedded /> }.into_any()
    } else {
        view! { <Page /> }.into_any()
    }
}

/// Language, theme and title belong to the document, which no component owns.
fn reach_outside(derived: Derived) {
    Effect::new(move || {
        let lang = derived.lang.get();
        document().set_title(words::TITLE.pick(lang));
        set_root("lang", about::TAG.pick(lang));
        set_root("dir", about::DIRECTION.pick(lang));
    });
    Effect::new(move || {
        let theme = match derived.theme.get() {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        set_root("data-theme", theme);
    });
}

fn set_root(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        // Fails only for a malformed name; ours are valid.
        let _ = root.set_attribute(name, value);
    }
}

#[component]
fn Page() -> impl IntoView {
    view! {
        <div class="app">
            // A link to #map would replace the Scene in the address, so this moves the focus
            // instead.
            <button type="button" class="skip" on:click=move |_| focus("map")>
                {t(words::SKIP)}
            </button>
            <Header />
            <aside class="left">
                <Controls />
            </aside>
            <main class="board" aria-label=t(words::BOARD)>
                <Sentence />
                <Board />
            </main>
            <aside class="right" aria-label=t(words::DETAILS)>
                <Lesson />
                <Side />
            </aside>
            <Status />
            <Problems />
        </div>
    }
}

/// Only the map, the chosen controls and a link to the full page.
#[component]
fn Embedded() -> impl IntoView {
    let app = AppState::get();
    let source = part(app, move |s| is_shown(s, true, Control::Source));
    let link = move || share::link(&app.shown());
    let spare = Memo::new(move |_| app.engine.with(|engine| engine.trouble().is_some()));
    view! {
        <div class="app is-embedded">
            <Show when=move || source.get()>
                <header class="top">
                    <div class="top-source">
                        <SourcePick />
                    </div>
                </header>
            </Show>
            <main class="board" aria-label=t(words::BOARD)>
                <h1 class="visually-hidden">{t(words::TITLE)}</h1>
                <Sentence />
                <Board />
            </main>
            <aside class="left">
                <Controls />
            </aside>
            <footer class="status">
                <Show when=move || spare.get()>
                    <Badge />
                </Show>
                <a class="full-page" href=link target="_blank" rel="noopener">
                    {t(words::FULL_PAGE)}
                </a>
            </footer>
            <Problems />
        </div>
    }
}

/// Starts the page.
pub fn start() {
    std::panic::set_hook(Box::new(panicked));
    let (scene, problems) = address::read();
    let state = AppState::new(scene, embedded());
    state.problems.set(problems);
    mount_to_body(move || view! { <App app=state /> });
}

/// Reports a panic, which is a bug: this instance no longer answers, and the reader must know.
/// `www/boot.js` does the rest, without depending on anything here.
fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    console_error_panic_hook::hook(info);
    let stopped = Reflect::get(&js_sys::global(), &"attnscopeStopped".into());
    if let Ok(stopped) = stopped.and_then(JsCast::dyn_into::<Function>) {
        let report = format!("attnscope {}: {info}", env!("CARGO_PKG_VERSION"));
        // If the handler throws, there is nothing left to do.
        let _ = stopped.call1(&JsValue::UNDEFINED, &report.into());
    }
}

/// This page is the embedded one.
fn embedded() -> bool {
    document()
        .document_element()
        .is_some_and(|root| root.has_attribute("data-embed"))
}
