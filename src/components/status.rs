//! The status line: which engine, how long, how large.

use leptos::prelude::*;

use crate::components::problems;
use crate::components::rich_text::rich;
use crate::scheduler;
use crate::state::derived::{Derived, ShownSizes, t};
use crate::state::window_stats::Reach;
use crate::state::{AppState, EngineState};
use attnscope_engine::recovery::Again;
use attnscope_text::{number, page as words, symbols};

/// Engine, GPU time, L, H, d, keys per row.
#[component]
pub fn Status() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let time = move || {
        // A coarse map has no time yet.
        let coarse = app.coarse.get().is_some();
        let ms = app.report.with(|report| report.gpu_ms);
        ms.filter(|_| !coarse).map_or_else(
            || "–".to_owned(),
            |ms| {
                format!(
                    "{} ms",
                    number::fixed(lang.get(), ms, if ms < 10.0 { 2 } else { 1 })
                )
            },
        )
    };
    let on_cpu = move || app.engine.with(|engine| engine.trouble().is_some());
    let no_timer = move || {
        let timers = app.engine.with(|engine| match engine {
            EngineState::Gpu(can) => can.timestamps,
            _ => engine.trouble().is_some(),
        });
        (!timers).then(|| symbols::spoken(words::GPU_TIME_NONE.pick(lang.get())))
    };
    let timed = rich(move || {
        let text = if on_cpu() {
            words::CPU_TIME
        } else {
            words::GPU_TIME
        };
        text.pick(lang.get())
    });
    let keys = Memo::new(move |_| app.scene.with(|s| Reach::of(s, sizes.get().seq_len).keys()));
    let size = move |name: &'static str, value: fn(ShownSizes) -> u32| {
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
            <Badge />
            <span class="fact" title=no_timer>
                {timed} " " <b class="time">{time}</b>
            </span>
            {size("L", |s| s.seq_len)}
            {size("H", |s| s.heads)}
            {size("d", ShownSizes::model_dim)}
            <span class="fact">{t(words::KEYS_PER_ROW)} " " <b>{move || keys.get()}</b></span>
        </footer>
    }
}

/// Which engine draws, and why.
#[component]
pub fn Badge() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let name = move || {
        let lang = lang.get();
        app.engine.with(|engine| match engine {
            EngineState::Probing => words::ENGINE_PROBING.pick(lang).to_owned(),
            EngineState::Gpu(can) => {
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
            EngineState::Recovering(_) => words::ENGINE_RECOVERING.pick(lang).to_owned(),
            EngineState::Lost(why, again) | EngineState::Cpu(why, again) => {
                let why = problems::short_reason(why, lang);
                let text = match again {
                    Again::Later => words::ENGINE_CPU_LATER,
                    Again::GivenUp => words::ENGINE_CPU_GIVEN_UP,
                    _ => words::ENGINE_CPU,
                };
                text.fill(lang, &[("why", why)])
            }
        })
    };
    let why = rich(move || {
        let lang = lang.get();
        app.engine.with(|engine| {
            let why = engine.trouble();
            why.map_or_else(name, |why| problems::engine_sentence(why, lang))
        })
    });
    let mark = move || {
        app.engine.with(|engine| match engine {
            EngineState::Probing => "mark is-waiting",
            EngineState::Gpu(_) => "mark is-ready",
            _ => "mark is-spare",
        })
    };
    view! {
        <span class="fact engine" role="status">
            <span class=mark aria-hidden="true"></span>
            <span class="engine-name" title=why>{rich(name)}</span>
            <Show when=move || app.engine.with(|engine| engine.again() != Again::Nobody)>
                <button type="button" class="quiet" on:click=move |_| scheduler::retry_gpu()>
                    {t(words::GPU_AGAIN)}
                </button>
            </Show>
        </span>
    }
}
