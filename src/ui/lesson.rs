//! A starter scene: title, two sentences, a move to try.

use leptos::prelude::*;

use crate::scene::{LessonId, Scene};
use crate::ui::derived::{part, t};
use crate::ui::markup::{View, view};
use crate::ui::state::AppState;
use crate::words::{lessons as words, page};

/// Opens a starter scene; language and theme stay the reader's.
pub fn open(app: AppState, id: LessonId) {
    app.change(|scene| {
        let begun = id.scene();
        *scene = Scene {
            lang: scene.lang,
            theme: scene.theme,
            show: std::mem::take(&mut scene.show),
            ..begun
        };
    });
}

/// The text of the scene that is open, if one is.
#[component(transparent)]
pub fn Lesson() -> View {
    let app = AppState::get();
    let lesson = part(app, |s| s.lesson);
    let card = move |id: LessonId| {
        let (title, text, step) = words::lesson(id);
        view! {
            <section class="lesson" aria-labelledby="lesson-title">
                <h2 id="lesson-title">{t(title)}</h2>
                <p>{t(text)}</p>
                <div class="lesson-moves">
                    <span>{t(words::TRY)}</span>
                    <button
                        type="button"
                        class="move"
                        id="lesson-move"
                        on:click=move |_| app.scene.update(|s| *s = id.suggested(s.clone()))
                    >
                        {t(step)}
                    </button>
                    <button type="button" class="quiet" on:click=move |_| open(app, id)>
                        {t(words::AGAIN)}
                    </button>
                </div>
                <button
                    type="button"
                    class="icon close"
                    title=t(words::CLOSE)
                    aria-label=t(words::CLOSE)
                    on:click=move |_| app.change(|s| s.lesson = None)
                >
                    "×"
                </button>
            </section>
        }
    };
    view! { {move || lesson.get().map(card)} }
}

/// The menu of starter scenes.
#[component(transparent)]
pub fn Menu() -> View {
    let app = AppState::get();
    let current = part(app, |s| s.lesson);
    let items = LessonId::ALL.map(|id| {
        view! {
            <li>
                <button
                    type="button"
                    popovertarget="scenes"
                    popovertargetaction="hide"
                    aria-current=move || (current.get() == Some(id)).then_some("true")
                    on:click=move |_| open(app, id)
                >
                    {t(words::lesson(id).0)}
                </button>
            </li>
        }
    });
    view! {
        <button type="button" class="menu-button" popovertarget="scenes">
            {t(page::SCENES)}
        </button>
        <div id="scenes" class="menu" popover="auto">
            <ol>{items}</ol>
        </div>
    }
}
