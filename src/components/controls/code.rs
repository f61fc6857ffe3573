//! The present mask in the code of other libraries, to copy.

use leptos::prelude::*;

use crate::components::clipboard::copy;
use crate::components::rich_text::rich;
use crate::state::AppState;
use crate::state::derived::{Derived, lasting, t};
use attnscope_scene::Scale;
use attnscope_scene::code::{Call, calls};
use attnscope_text::{controls as words, page};

/// One folded block per library.
#[component]
pub fn MaskCode() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    // Written only while open: every step of a drag would pay for it.
    let open = RwSignal::new(false);
    let now = lasting(move || -> Vec<Call> {
        if !open.get() {
            return Vec::new();
        }
        let d = f64::from(sizes.get().model_dim().max(1));
        app.scene.with(|scene| {
            let scale = match scene.scale {
                Scale::HeadDim => None,
                Scale::ModelDim => Some(d.sqrt().recip()),
                Scale::Free(scale) => Some(f64::from(scale)),
            };
            calls(&scene.visibility(), scene.empty, scale)
        })
    });
    let copied = RwSignal::new(None::<&'static str>);
    let code = move |at: usize| now.with(|calls| calls.get(at).cloned());
    let block = move |at: usize| {
        let name = move || code(at).map_or("", |call| call.name);
        let copy_it = move |_| {
            if let Some(call) = untrack(|| code(at)) {
                copy(app, copied, call.name, call.code);
            }
        };
        let label = rich(move || {
            let call = [("name", name())];
            words::COPY_CALL.fill(lang.get(), &call)
        });
        let done = rich(move || {
            let done = copied.get() == Some(name());
            if done {
                page::COPIED.pick(lang.get())
            } else {
                ""
            }
        });
        view! {
            <div class="mask-call">
                <span class="mask-call-name">{name}</span>
                <button type="button" class="quiet" aria-label=label on:click=copy_it>
                    {t(words::COPY)}
                </button>
                <span class="copied" role="status">
                    {done}
                </span>
                <code class="torch">
                    {move || code(at).map(|call| call.code).unwrap_or_default()}
                </code>
            </div>
        }
    };
    view! {
        <details
            class="group"
            id="mask-code"
            on:toggle=move |ev| {
                let details = event_target::<web_sys::Element>(&ev);
                open.set(details.has_attribute("open"));
            }
        >
            <summary>{t(words::CODE)}</summary>
            <p class="aside">{t(words::CODE_HINT)}</p>
            <For each=move || 0..now.with(Vec::len) key=|at| *at children=block />
        </details>
    }
}
