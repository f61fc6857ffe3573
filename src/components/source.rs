//! Where the layer comes from: text or pattern, layer, head.

use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::scheduler;
use crate::state::derived::{Derived, part, t};
use crate::state::{AppState, LayerState};
use attnscope_scene::{MAX_SEQ_LEN, Passage, Pattern, Source};
use attnscope_text::{self as words, page as words_page};

/// Layers of the shipped model.
const LAYERS: u8 = 6;

const PASSAGES: [Passage; 3] = [Passage::Sentence, Passage::Paragraph, Passage::Page];
const PATTERNS: [Pattern; 4] = [
    Pattern::Random,
    Pattern::Repeated,
    Pattern::Local,
    Pattern::LongRange,
];

/// Source, and what the source needs: layer, or length and seed; then the head.
#[component]
pub fn SourcePick() -> impl IntoView {
    let app = AppState::get();
    let Derived { sizes, head, .. } = Derived::get();
    let chosen = part(app, |s| match s.source {
        Source::MiniLm { text, .. } => PASSAGES.iter().position(|p| *p == text).unwrap_or(0),
        Source::Synthetic { pattern, .. } => {
            PASSAGES.len() + PATTERNS.iter().position(|p| *p == pattern).unwrap_or(0)
        }
    });
    let choose = move |at: usize| {
        app.change(|s| {
            s.source = chosen_source(&s.source, at);
            // A rectangle or cell of another text says nothing about this one, nor does a starter
            // scene, which speaks of its tokens. The listings are of any text.
            s.view.rect = None;
            s.view.cell = None;
            s.lesson = s.lesson.filter(|id| !id.points().is_empty());
        });
    };
    let real = Memo::new(move |_| chosen.get() < PASSAGES.len());
    let option = move |at: usize, text: words::Text| {
        view! {
            <option value=at.to_string() prop:selected=move || chosen.get() == at>
                {t(text).flat()}
            </option>
        }
    };
    view! {
        <label class="field" for="source">
            <span>{t(words_page::SOURCE)}</span>
            <select
                id="source"
                on:change=move |ev| {
                    if let Ok(at) = event_target_value(&ev).parse() {
                        choose(at);
                    }
                }
            >
                <optgroup label=t(words_page::GROUP_REAL)>
                    {PASSAGES
                        .iter()
                        .enumerate()
                        .map(|(at, text)| option(at, words_page::passage(*text)))
                        .collect_view()}
                </optgroup>
                <optgroup label=t(words_page::GROUP_SYNTHETIC)>
                    {PATTERNS
                        .iter()
                        .enumerate()
                        .map(|(at, p)| option(PASSAGES.len() + at, words_page::pattern(*p)))
                        .collect_view()}
                </optgroup>
            </select>
        </label>
        <Show when=move || real.get() fallback=|| view! { <SyntheticSizes /> }>
            <Number
                id="layer"
                label=words_page::LAYER
                count=Memo::new(|_| u32::from(LAYERS))
                value=part(
                    app,
                    |s| match s.source {
                        Source::MiniLm { layer, .. } => u32::from(layer),
                        Source::Synthetic { .. } => 0,
                    },
                )
                set=Callback::new(move |to: u32| {
                    app.change(|s| {
                        if let Source::MiniLm { layer, .. } = &mut s.source {
                            *layer = to as u8;
                        }
                    });
                })
            />
        </Show>
        <Number
            id="head"
            label=words_page::HEAD
            count=Memo::new(move |_| sizes.get().heads)
            value=Memo::new(move |_| head.get())
            set=Callback::new(move |to| app.change(|s| s.view.head = Some(to)))
        />
        <Loading />
    }
}

/// The source at a place of the list; layer, length and seed stay as far as both sources have them.
fn chosen_source(now: &Source, at: usize) -> Source {
    if let Some(&text) = PASSAGES.get(at) {
        let layer = match *now {
            Source::MiniLm { layer, .. } => layer,
            Source::Synthetic { .. } => 1,
        };
        return Source::MiniLm { text, layer };
    }
    let at = at.saturating_sub(PASSAGES.len());
    let pattern = PATTERNS.get(at).copied().unwrap_or_default();
    let (seq_len, seed) = match *now {
        Source::Synthetic { seq_len, seed, .. } => (seq_len, seed),
        Source::MiniLm { .. } => (64, 1),
    };
    Source::Synthetic {
        pattern,
        seq_len,
        seed,
    }
}

/// A select of the numbers 0 .. count.
#[component]
fn Number(
    /// Element id.
    id: &'static str,
    /// What is numbered.
    label: words::Text,
    /// How many there are.
    count: Memo<u32>,
    /// Which one.
    value: Memo<u32>,
    /// Takes a choice.
    set: Callback<u32>,
) -> impl IntoView {
    let count = Memo::new(move |_| count.get());
    let option = move |at: u32| {
        view! {
            <option value=at.to_string() prop:selected=move || value.get() == at>
                {at}
            </option>
        }
    };
    view! {
        <label class="field" for=id>
            <span>{t(label)}</span>
            <select
                id=id
                on:change=move |ev| {
                    if let Ok(n) = event_target_value(&ev).parse() {
                        set.run(n);
                    }
                }
            >
                <For each=move || 0..count.get() key=|at| *at children=option />
            </select>
        </label>
    }
}

/// L and seed of a synthetic layer.
#[component]
fn SyntheticSizes() -> impl IntoView {
    let app = AppState::get();
    let both = part(app, |s| match s.source {
        Source::Synthetic { seq_len, seed, .. } => (seq_len, seed),
        Source::MiniLm { .. } => (0, 0),
    });
    let number = move |id: &'static str,
                       label: words::Text,
                       most: u32,
                       of: fn((u32, u32)) -> u32,
                       edit: fn(&mut u32, &mut u32, u32)| {
        let least = u32::from(id == "length");
        let on_change = move |ev: web_sys::Event| {
            if let Ok(n) = event_target_value(&ev).trim().parse::<u32>() {
                app.change(|s| {
                    if let Source::Synthetic { seq_len, seed, .. } = &mut s.source {
                        edit(seq_len, seed, n.clamp(least, most));
                        s.view.rect = None;
                        s.view.cell = None;
                    }
                });
            }
            event_target::<web_sys::HtmlInputElement>(&ev)
                .set_value(&of(both.get_untracked()).to_string());
        };
        view! {
            <label class="field" for=id>
                <span>{t(label)}</span>
                <input
                    type="number"
                    class="exact"
                    id=id
                    min=least
                    max=most
                    step="1"
                    prop:value=move || of(both.get()).to_string()
                    on:change=on_change
                />
            </label>
        }
    };
    view! {
        {number("length", words_page::LENGTH, MAX_SEQ_LEN, |b| b.0, |l, _, to| *l = to)}
        {number("seed", words_page::SEED, u32::MAX, |b| b.1, |_, seed, to| *seed = to)}
    }
}

/// How far a download is, and a way out of it.
#[component]
fn Loading() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let progress = Memo::new(move |_| {
        app.layer.with(|layer| match layer {
            LayerState::Loading { done, total, .. } => Some((*done, *total)),
            _ => None,
        })
    });
    let text = move || {
        let kilo = |bytes: u64| words::number::count(lang.get(), bytes.div_ceil(1000));
        match progress.get() {
            Some((done, Some(total))) => words_page::LOADED_OF.fill(
                lang.get(),
                &[("done", &kilo(done)), ("total", &kilo(total))],
            ),
            Some((done, None)) => words_page::LOADED.fill(lang.get(), &[("done", &kilo(done))]),
            None => String::new(),
        }
    };
    view! {
        <Show when=move || progress.get().is_some()>
            <span class="loading" role="status">
                <progress
                    max=move || progress.get().and_then(|(_, total)| total).map(|t| t.to_string())
                    value=move || {
                        progress
                            .get()
                            .and_then(|(done, total)| total.map(|_| done.to_string()))
                    }
                ></progress>
                <span class="loading-text">{rich(text)}</span>
                <button type="button" class="quiet" on:click=move |_| scheduler::cancel_load()>
                    {t(words_page::CANCEL)}
                </button>
            </span>
        </Show>
    }
}
