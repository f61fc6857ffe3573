//! The status line: which engine, how long, how large.

use leptos::prelude::*;

use crate::engine::EngineError;
use crate::ui::derived::{Derived, Sizes, t};
use crate::ui::markup::{View, view};
use crate::ui::memo::memo;
use crate::ui::problems;
use crate::ui::reach::Reach;
use crate::ui::state::{AppState, EngineState};
use crate::words::{number, page as words};

/// Engine, GPU time, L, H, d, keys per row.
#[component(transparent)]
pub fn Status() -> View {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let engine = move || {
        let lang = lang.get();
        app.engine.with(|engine| match engine {
            EngineState::Probing => words::ENGINE_PROBING.pick(lang).to_owned(),
            EngineState::Ready(can) => {
                let text = if can.software {
                    words::ENGINE_SOFTWARE
                } else {
                    words::ENGINE_READY
                };
                text.fill(
                    lang,
                    &[("backend", &can.backend), ("adapter", &can.adapter)],
                )
            }
            EngineState::Failed(error) => {
                let why = problems::short_reason(error, lang);
                words::ENGINE_FAILED.fill(lang, &[("why", why)])
            }
        })
    };
    let mark = move || {
        app.engine.with(|engine| match engine {
            EngineState::Probing | EngineState::Failed(EngineError::EmptyCanvas) => {
                "mark is-waiting"
            }
            EngineState::Ready(_) => "mark is-ready",
            EngineState::Failed(_) => "mark is-failed",
        })
    };
    let time = move || {
        app.report.with(|report| report.gpu_ms).map_or_else(
            || "–".to_owned(),
            |ms| format!("{} ms", number::fixed(ms, if ms < 10.0 { 2 } else { 1 })),
        )
    };
    let no_timer = move || {
        let timers = app
            .engine
            .with(|e| matches!(e, EngineState::Ready(can) if can.timestamps));
        (!timers).then(|| words::GPU_TIME_NONE.pick(lang.get()))
    };
    let keys = memo(move || app.scene.with(|s| Reach::of(s, sizes.get().seq_len).keys()));
    let size = move |name: &'static str, value: fn(Sizes) -> u32| {
        view! {
            <span class="fact">
                <i>{name}</i>
                " "
                <b>{move || value(sizes.get())}</b>
            </span>
        }
    };
    view! {
        <footer class="status" aria-label=t(words::STATUS)>
            <span class="fact engine">
                <span class=mark aria-hidden="true"></span>
                <span class="engine-name" title=engine>{engine}</span>
            </span>
            <span class="fact" title=no_timer>
                {t(words::GPU_TIME)} " " <b class="time">{time}</b>
            </span>
            {size("L", |s| s.seq_len)}
            {size("H", |s| s.heads)}
            {size("d", Sizes::model_dim)}
            <span class="fact">{t(words::KEYS_PER_ROW)} " " <b>{move || keys.get()}</b></span>
        </footer>
    }
}
