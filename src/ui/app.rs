//! The layout of the page, and of the embedded page.

use leptos::prelude::*;

use crate::ui::board::Board;
use crate::ui::controls::{Controls, is_shown};
use crate::ui::derived::{Derived, part, t};
use crate::ui::focus::focus;
use crate::ui::header::Header;
use crate::ui::lesson::Lesson;
use crate::ui::measure::wishes;
use crate::ui::problems::Problems;
use crate::ui::sentence::{Sentence, spoken};
use crate::ui::share;
use crate::ui::side::Side;
use crate::ui::source::SourcePick;
use crate::ui::state::AppState;
use crate::ui::status::{Badge, Status};
use crate::ui::{address, driver, host, limits};
use attnscope_scene::{Control, Theme};
use attnscope_text::{language as about, page as words};

/// The page. Provides [`AppState`] and [`Derived`] to everything inside.
#[component]
pub fn App(
    /// The state; the driver writes to the same.
    app: AppState,
) -> impl IntoView {
    provide_context(app);
    let derived = Derived::new(app, wishes());
    provide_context(derived);
    reach_outside(derived);
    driver::start(app);
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
        // Only a malformed name is refused, and ours are not.
        let _ = root.set_attribute(name, value);
    }
}

#[component]
fn Page() -> impl IntoView {
    view! {
        <div class="app">
            // A link to #map would replace the Scene in the address: focus instead.
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

/// Only the map and the chosen controls, and a way to the full page.
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
