//! What went wrong, as sentences that say what to do; each can be dismissed.

use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::scheduler;
use crate::state::AppState;
use crate::state::derived::{Derived, t};
use crate::state::problem::Problem;
use attnscope_engine::EngineError;
use attnscope_scene::Lang;
use attnscope_scene::warning::{Reason, Warning};
use attnscope_text::language::LIST;
use attnscope_text::{isolated, page, problems as words};

/// The sentence about a problem.
pub fn sentence(problem: &Problem, lang: Lang) -> String {
    match problem {
        Problem::Engine(error) => engine_sentence(error, lang),
        Problem::FileMissing { file, status: 0 } => {
            words::FILE_NO_ANSWER.fill(lang, &[("file", file)])
        }
        Problem::FileMissing { file, status } => {
            words::FILE_MISSING.fill(lang, &[("file", file), ("status", &status.to_string())])
        }
        Problem::LoadCancelled => words::LOAD_CANCELLED.pick(lang).to_owned(),
        Problem::FileBroken { file, why } => {
            words::FILE_BROKEN.fill(lang, &[("file", file), ("why", why)])
        }
        Problem::LinkWarnings(list) => {
            words::LINK_WARNINGS.fill(lang, &[("list", &misfits(list, lang))])
        }
        Problem::LayerLimits(list) => {
            words::LAYER_LIMITS.fill(lang, &[("list", &misfits(list, lang))])
        }
        Problem::LinkNewer(version) => words::LINK_NEWER.fill(lang, &[("version", version)]),
        Problem::Worker(why) => words::WORKER.fill(lang, &[("why", why)]),
        Problem::Clipboard(_) => words::CLIPBOARD.pick(lang).to_owned(),
    }
}

fn misfits(list: &[(Warning, String)], lang: Lang) -> String {
    let parts: Vec<_> = list.iter().map(|(w, used)| misfit(w, used, lang)).collect();
    parts.join(LIST.pick(lang))
}

/// What happened to one parameter of a link.
fn misfit(warning: &Warning, used: &str, lang: Lang) -> String {
    let text = match warning.reason {
        Reason::OutOfRange { .. } => words::LINK_LIMITED,
        Reason::UnknownKey => words::LINK_UNKNOWN,
        Reason::Duplicate | Reason::Repeated => words::LINK_TWICE,
        Reason::TooLong => words::LINK_LONG,
        _ if used.is_empty() => words::LINK_UNKNOWN,
        _ => words::LINK_DEFAULT,
    };
    let part = isolated(&format!("{}={}", warning.key, warning.value));
    text.fill(lang, &[("part", &part), ("used", used)])
}

/// The sentence about an engine.
pub fn engine_sentence(error: &EngineError, lang: Lang) -> String {
    match error {
        EngineError::NoWebGpu => words::NO_WEBGPU.pick(lang).to_owned(),
        EngineError::NoAdapter => words::NO_ADAPTER.pick(lang).to_owned(),
        EngineError::NoAnswer => words::NO_ANSWER.pick(lang).to_owned(),
        EngineError::NoCpu(why) => words::NO_CPU.fill(lang, &[("why", why)]),
        EngineError::NoDevice(why) => words::NO_DEVICE.fill(lang, &[("why", why)]),
        EngineError::DeviceLost(why) => words::DEVICE_LOST.fill(lang, &[("why", why)]),
        EngineError::Stalled => words::STALLED.pick(lang).to_owned(),
        EngineError::TooLarge { wanted, allowed } => words::TOO_LARGE.fill(
            lang,
            &[
                ("wanted", &wanted.to_string()),
                ("allowed", &allowed.to_string()),
            ],
        ),
        EngineError::NoCanvas(why) => words::NO_CANVAS.fill(lang, &[("why", why)]),
        EngineError::EmptyCanvas => words::EMPTY_CANVAS.pick(lang).to_owned(),
        EngineError::Invalid(why) => words::INVALID.fill(lang, &[("why", why)]),
    }
}

/// The reason in a few words, for the status line.
pub fn short_reason(error: &EngineError, lang: Lang) -> &'static str {
    match error {
        EngineError::NoWebGpu => words::SHORT_NO_WEBGPU,
        EngineError::NoAdapter => words::SHORT_NO_ADAPTER,
        EngineError::NoAnswer => words::SHORT_NO_ANSWER,
        EngineError::NoCpu(_) => words::SHORT_NO_CPU,
        EngineError::NoDevice(_) => words::SHORT_NO_DEVICE,
        EngineError::DeviceLost(_) => words::SHORT_LOST,
        EngineError::Stalled => words::SHORT_STALLED,
        EngineError::TooLarge { .. } => words::SHORT_TOO_LARGE,
        EngineError::NoCanvas(_) => words::SHORT_NO_CANVAS,
        EngineError::EmptyCanvas => words::SHORT_NO_ROOM,
        EngineError::Invalid(_) => words::SHORT_INVALID,
    }
    .pick(lang)
}

/// All problems, newest last.
#[component]
pub fn Problems() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let item = move |at: usize| {
        let text = rich(move || {
            let lang = lang.get();
            app.problems
                .with(|all| all.get(at).map(|problem| sentence(problem, lang)))
                .unwrap_or_default()
        });
        let by_hand = Memo::new(move |_| {
            app.problems.with(|all| match all.get(at) {
                Some(Problem::Clipboard(text)) => Some(text.clone()),
                _ => None,
            })
        });
        let retries = Memo::new(move |_| {
            app.problems
                .with(|all| all.get(at).is_some_and(Problem::can_be_retried))
        });
        let retry = move |_| {
            let problem = app.problems.with_untracked(|all| all.get(at).cloned());
            if let Some(problem) = problem {
                scheduler::retry(&problem);
            }
        };
        let dismiss = move |_| {
            app.problems.update(|all| {
                if at < all.len() {
                    all.remove(at);
                }
            });
        };
        view! {
            <div class="problem" role="alert">
                <p>{text}</p>
                {move || {
                    by_hand
                        .get()
                        .map(|text| {
                            view! {
                                <textarea
                                    class="by-hand"
                                    readonly
                                    rows="3"
                                    aria-label=t(page::SHARE)
                                >
                                    {text}
                                </textarea>
                            }
                        })
                }}
                <button
                    type="button"
                    class="retry menu-button"
                    hidden=move || !retries.get()
                    on:click=retry
                >
                    {t(words::TRY_AGAIN)}
                </button>
                <button
                    type="button"
                    class="icon"
                    title=t(page::DISMISS)
                    aria-label=t(page::DISMISS)
                    on:click=dismiss
                >
                    "×"
                </button>
            </div>
        }
    };
    view! {
        <div class="problems">
            <For each=move || 0..app.problems.with(Vec::len) key=|at| *at children=item />
        </div>
    }
}
