//! A starter scene: title, two sentences, a move to try; or a listing and the points in which its
//! text differs.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::components::controls::choice::{Choice, Item};
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_scene::listing::Point;
use attnscope_scene::{LessonId, Scene};
use attnscope_text::{lessons as words, listing, page};

/// Opens a starter scene; the reader's language and theme stay.
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

/// Scrolls to the first control that has moved, except on phones, where the map stays above them.
fn show_moved(app: AppState, before: Scene) {
    request_animation_frame(move || {
        let Ok(controls) = document().query_selector_all("[data-key]") else {
            return;
        };
        let moved = (0..controls.length())
            .filter_map(|at| controls.get(at)?.dyn_into::<web_sys::Element>().ok())
            .find(|control| {
                let key = control.get_attribute("data-key").unwrap_or_default();
                app.scene
                    .with_untracked(|now| now.value(&key) != before.value(&key))
            });
        if let Some(control) = moved {
            let how = web_sys::ScrollIntoViewOptions::new();
            how.set_block(web_sys::ScrollLogicalPosition::Nearest);
            control.scroll_into_view_with_scroll_into_view_options(&how);
        }
    });
}

/// The text of the open scene, if there is one.
#[component]
pub fn Lesson() -> impl IntoView {
    let app = AppState::get();
    let lesson = part(app, |s| s.lesson);
    let narrow = Derived::get().narrow;
    let card = move |id: LessonId| {
        let (title, text, step) = words::lesson(id);
        let step = step.map(|step| {
            view! {
                <span>{t(words::TRY)}</span>
                <button
                    type="button"
                    class="move"
                    id="lesson-move"
                    on:click=move |_| {
                        let before = app.scene.get_untracked();
                        app.change(|s| *s = id.suggested(s.clone()));
                        if !narrow.get_untracked() {
                            show_moved(app, before);
                        }
                    }
                >
                    {t(step)}
                </button>
            }
        });
        let points = id
            .points()
            .iter()
            .map(|&point| view! { <PointSwitch point=point /> });
        view! {
            <section class="lesson" aria-labelledby="lesson-title">
                <h2 id="lesson-title">{t(title)}</h2>
                <p>{t(text)}</p>
                {points.collect_view()}
                <div class="lesson-moves">
                    {step}
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

/// One point in which a listing and its text differ: which of them the Scene follows.
#[component]
fn PointSwitch(
    /// Which point.
    point: Point,
) -> impl IntoView {
    let app = AppState::get();
    let applies = part(app, move |s| point.applies(s));
    let (title, says) = listing::point(point);
    view! {
        <Show when=move || applies.get()>
            <div class="point">
                <Choice
                    name=point.name()
                    legend=title
                    options=vec![
                        Item::named(Some(false), listing::AS_LISTING),
                        Item::named(Some(true), listing::AS_TEXT),
                    ]
                    value=part(app, move |s| point.as_text(s))
                    set=Callback::new(move |to| app.change(|s| point.set(s, to == Some(true))))
                    look="segments"
                />
                <p class="aside">{t(says)}</p>
            </div>
        </Show>
    }
}

/// The menu of starter scenes.
#[component]
pub fn Menu() -> impl IntoView {
    let app = AppState::get();
    let current = part(app, |s| s.lesson);
    let item = move |id: LessonId| {
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
    };
    view! {
        <button type="button" class="menu-button" popovertarget="scenes">
            {t(page::SCENES)}
        </button>
        <div id="scenes" class="menu" popover="auto">
            <ol>{LessonId::ALL.map(item)}</ol>
            <p class="menu-group" id="listings">{t(listing::GROUP)}</p>
            <ol aria-labelledby="listings">{LessonId::LISTINGS.map(item)}</ol>
        </div>
    }
}
