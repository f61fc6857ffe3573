//! The page `check.html`: facts that this device has just computed, each with a verdict, and golden
//! cases from `?case=` addresses or chosen files. Results are rows with data attributes, so that a
//! browser test reads what a person reads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;
use web_sys::{FileList, HtmlInputElement, UrlSearchParams};

use crate::check::case_source::{CaseSource, parse};
use crate::check::facts::{Bench, Fact};
use crate::check::finding::Finding;
use crate::check::judge::judge;
use crate::check::reason;
use crate::components::rich_text::markup;
use attnscope_attention::compare::Comparison;
use attnscope_engine::Engine;
use attnscope_engine_gpu::GpuEngine;
use attnscope_scene::Lang;
use attnscope_text::{self as words, Text, check as texts, language as about};

/// Starts the page.
pub fn start() {
    console_error_panic_hook::set_once();
    let query = window().location().search().unwrap_or_default();
    let Ok(query) = UrlSearchParams::new_with_str(&query) else {
        return;
    };
    let browser = window().navigator().language().unwrap_or_default();
    let lang = words::language(&query.get("lang").unwrap_or(browser));
    set_root("lang", about::TAG.pick(lang));
    set_root("dir", about::DIRECTION.pick(lang));
    if let Some(theme) = query.get("theme").filter(|t| t == "dark" || t == "light") {
        set_root("data-theme", &theme);
    }
    document().set_title(texts::TITLE.pick(lang));
    close_on_escape();
    let addresses: Vec<String> = query
        .get_all("case")
        .iter()
        .filter_map(|value| value.as_string())
        .collect();
    mount_to_body(move || {
        let report = Report::new(lang);
        let runner = Rc::new(Runner::new(lang, report));
        spawn_local(runner.clone().run(addresses));
        view! { <Proof lang=lang report=report runner=runner /> }
    });
}

/// Sets an attribute of the root element.
fn set_root(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        // Fails only for a malformed name; ours are valid.
        let _ = root.set_attribute(name, value);
    }
}

/// Inside the dialog of the full page Escape closes it, even while the focus is in here.
fn close_on_escape() {
    let Ok(Some(frame)) = window().frame_element() else {
        return;
    };
    // The listener lives as long as the page.
    window_event_listener(leptos::ev::keydown, move |event| {
        let dialog = frame.closest("dialog").ok().flatten();
        if let (Some(dialog), "Escape") = (dialog, &*event.key()) {
            dialog
                .unchecked_into::<web_sys::HtmlDialogElement>()
                .close();
        }
    });
}

/// What the page shows.
#[derive(Clone, Copy)]
struct Report {
    /// "running", "done" or "failed".
    state: RwSignal<&'static str>,
    /// The device that computes, once known.
    adapter: RwSignal<Option<String>>,
    /// The verdict in a sentence, or why there is none.
    verdict: RwSignal<String>,
    facts: RwSignal<Vec<(Fact, Finding)>>,
    cases: RwSignal<Vec<CaseRow>>,
    /// Files can be chosen.
    takes_files: RwSignal<bool>,
}

impl Report {
    fn new(lang: Lang) -> Self {
        Self {
            state: RwSignal::new("running"),
            adapter: RwSignal::default(),
            verdict: RwSignal::new(texts::RUNNING.pick(lang).to_owned()),
            facts: RwSignal::default(),
            cases: RwSignal::default(),
            takes_files: RwSignal::default(),
        }
    }
}

/// Outcome of a case.
#[derive(Clone)]
enum CaseRow {
    /// One of its tensors was compared.
    Compared(String, Comparison),
    /// It was not checked, and why.
    Refused(String, String),
}

/// The whole page.
#[component]
fn Proof(
    /// Language on screen.
    lang: Lang,
    /// What is shown.
    report: Report,
    /// Called with chosen files.
    runner: Rc<Runner>,
) -> impl IntoView {
    let say = move |text: Text| markup(text.pick(lang));
    let head = move |names: &[Text]| {
        let cell = |name: &Text| view! { <th scope="col">{say(*name)}</th> };
        view! { <thead><tr>{names.iter().map(cell).collect_view()}</tr></thead> }
    };
    let chosen = move |ev: web_sys::Event| {
        if let Some(files) = event_target::<HtmlInputElement>(&ev).files() {
            runner.take(&files);
        }
    };
    view! {
        <main class="proof" data-state=report.state data-adapter=report.adapter>
            <h1>{say(texts::HEADING)}</h1>
            <Show when=move || report.state.get() != "failed">
                <p>{say(texts::INTRO)}</p>
            </Show>
            <p role="status">{move || markup(&report.verdict.read())}</p>
            <table class="proof-table">
                {head(&[texts::FACT, texts::LARGEST, texts::ALLOWED])}
                <tbody>
                    <For
                        each=move || report.facts.get()
                        key=|(fact, _)| format!("{fact:?}")
                        let((fact, found))
                    >
                        <FactRow lang=lang fact=fact found=found />
                    </For>
                </tbody>
            </table>
            <h2>{say(texts::CASES)}</h2>
            <p>{say(texts::CASES_INTRO)}</p>
            <label>
                {say(texts::CHOOSE)}
                <input
                    type="file"
                    multiple
                    disabled=move || !report.takes_files.get()
                    accept=".safetensors"
                    on:change=chosen
                />
            </label>
            <table class="proof-table">
                {head(
                    &[
                        texts::CASE,
                        texts::WORST,
                        texts::GOT,
                        texts::WANTED,
                        texts::LARGEST,
                        texts::ALLOWED,
                    ],
                )}
                <tbody>
                    <For
                        each=move || report.cases.get().into_iter().enumerate()
                        key=|(at, _)| *at
                        let((_, row))
                    >
                        {match row {
                            CaseRow::Compared(case, found) => {
                                view! { <ComparedRow lang=lang case=case found=found /> }.into_any()
                            }
                            CaseRow::Refused(case, why) => {
                                view! { <RefusedRow lang=lang case=case why=why /> }.into_any()
                            }
                        }}
                    </For>
                </tbody>
            </table>
        </main>
    }
}

/// A fact and whether it holds here.
#[component]
fn FactRow(
    /// Language on screen.
    lang: Lang,
    /// Which fact.
    fact: Fact,
    /// Its measurement.
    found: Finding,
) -> impl IntoView {
    let bound = if found.bound == 0.0 {
        texts::EXACTLY
    } else if found.exceeds {
        texts::AT_LEAST
    } else {
        texts::AT_MOST
    };
    let bound = bound.fill(lang, &[("bound", &small(found.bound))]);
    view! {
        <tr data-fact=format!("{fact:?}") data-holds=found.holds.to_string()>
            <Verdict lang=lang holds=found.holds what=says(fact).pick(lang).to_owned() />
            <td>{small(found.difference)}</td>
            <td>{markup(&bound)}</td>
        </tr>
    }
}

/// A tick or a cross, in shape, colour and words, in front of its subject.
#[component]
fn Verdict(
    /// Language on screen.
    lang: Lang,
    /// It holds.
    holds: bool,
    /// Its subject.
    what: String,
) -> impl IntoView {
    let (class, sign, name) = if holds {
        ("tick", "✓", texts::HOLDS)
    } else {
        ("cross", "✗", texts::FAILS)
    };
    view! {
        <th scope="row">
            <span class=class role="img" aria-label=name.pick(lang)>
                {sign}
            </span>
            <span>{markup(&what)}</span>
        </th>
    }
}

/// A tensor of a case beside its expectation.
#[component]
fn ComparedRow(
    /// Language on screen.
    lang: Lang,
    /// Name of the case.
    case: String,
    /// The worst element.
    found: Comparison,
) -> impl IntoView {
    let difference = (found.got - found.want).abs();
    let holds = found.is_equal();
    let what = found.what.clone();
    view! {
        <tr
            data-case=case
            data-what=what
            data-difference=difference.to_string()
            data-allowed=found.allowed.to_string()
            data-holds=holds.to_string()
        >
            <Verdict lang=lang holds=holds what=found.what />
            <td>{found.index.to_string()}</td>
            <td>{small(found.got)}</td>
            <td>{small(found.want)}</td>
            <td>{small(difference)}</td>
            <td>{small(found.allowed)}</td>
        </tr>
    }
}

/// A case that was not checked.
#[component]
fn RefusedRow(
    /// Language on screen.
    lang: Lang,
    /// Name of the case.
    case: String,
    /// The reason.
    why: String,
) -> impl IntoView {
    view! {
        <tr data-case=case data-holds="false">
            <Verdict lang=lang holds=false what=why />
        </tr>
    }
}

/// Computes what the page shows.
struct Runner {
    lang: Lang,
    report: Report,
    sources: RefCell<VecDeque<CaseSource>>,
    /// The engine, while it is idle.
    engine: RefCell<Option<GpuEngine>>,
}

impl Runner {
    fn new(lang: Lang, report: Report) -> Self {
        Self {
            lang,
            report,
            sources: RefCell::default(),
            engine: RefCell::default(),
        }
    }

    /// Checks the facts, then every requested case.
    async fn run(self: Rc<Self>, addresses: Vec<String>) {
        let mut engine = match GpuEngine::new().await {
            Ok(engine) => engine,
            Err(why) => {
                let why = why.to_string();
                let said = texts::NO_ENGINE.fill(self.lang, &[("why", &why)]);
                self.report.verdict.set(said);
                return self.report.state.set("failed");
            }
        };
        let adapter = engine.capabilities().adapter.clone();
        self.report.adapter.set(Some(adapter.clone()));
        self.check_facts(&mut engine, &adapter).await;
        self.sources
            .borrow_mut()
            .extend(addresses.into_iter().map(CaseSource::Address));
        self.work(engine).await;
        self.report.takes_files.set(true);
    }

    /// Checks the requested cases until none is left; then the engine is idle again.
    async fn work(&self, mut engine: GpuEngine) {
        self.report.state.set("running");
        loop {
            let next = self.sources.borrow_mut().pop_front();
            let Some(source) = next else { break };
            self.check_case(&mut engine, source).await;
        }
        *self.engine.borrow_mut() = Some(engine);
        self.report.state.set("done");
    }

    /// Chosen files are checked in turn, whenever they are chosen.
    fn take(self: &Rc<Self>, files: &FileList) {
        let files = (0..files.length()).filter_map(|at| files.get(at));
        self.sources
            .borrow_mut()
            .extend(files.map(CaseSource::File));
        // Busy: the running check will find them.
        if let Some(engine) = self.engine.borrow_mut().take() {
            let runner = self.clone();
            spawn_local(async move { runner.work(engine).await });
        }
    }

    async fn check_facts(&self, engine: &mut GpuEngine, adapter: &str) {
        let mut bench = Bench::new(engine);
        let mut bad = 0;
        for fact in Fact::ALL {
            match bench.measure(fact).await {
                Ok(found) => {
                    bad += usize::from(!found.holds);
                    self.report.facts.update(|all| all.push((fact, found)));
                }
                Err(why) => {
                    let why = reason::of_engine(self.lang, &why);
                    return self.report.verdict.set(why);
                }
            }
        }
        let all = Fact::ALL.len().to_string();
        let bad_words = bad.to_string();
        let (verdict, n) = match bad {
            0 => (texts::ALL_HOLD, Fact::ALL.len()),
            _ => (texts::SOME_FAIL, bad),
        };
        let on = texts::ADAPTER.fill(self.lang, &[("adapter", adapter)]);
        let verdict = verdict.fill(self.lang, n, &[("n", &all), ("bad", &bad_words)]);
        self.report.verdict.set(format!("{verdict} {on}"));
    }

    async fn check_case(&self, engine: &mut GpuEngine, source: CaseSource) {
        let name = source.name();
        let bytes = match source.bytes(self.lang).await {
            Ok(bytes) => bytes,
            Err(why) => return self.refuse(texts::NOT_LOADED, name, &why),
        };
        let case = match parse(&name, &bytes).await {
            Ok(case) => case,
            Err(why) => {
                let why = reason::of_file(self.lang, &why);
                return self.refuse(texts::BAD_CASE, name, &why);
            }
        };
        match judge(engine, &case).await {
            Ok(found) => {
                let row = |found| CaseRow::Compared(name.clone(), found);
                let cases = self.report.cases;
                cases.update(|all| all.extend(found.into_iter().map(row)));
            }
            Err(why) => {
                let why = reason::of_engine(self.lang, &why);
                self.refuse(texts::BAD_CASE, name, &why);
            }
        }
    }

    /// A row that says why a case was not checked.
    fn refuse(&self, words: Text, name: String, why: &str) {
        let why = words.fill(self.lang, &[("name", &name), ("why", why)]);
        let row = CaseRow::Refused(name, why);
        self.report.cases.update(|all| all.push(row));
    }
}

/// A number of any size in few digits.
fn small(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞" } else { "−∞" }.to_owned()
    } else if (1e-3..1e4).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}

/// The sentence that states a fact.
const fn says(fact: Fact) -> Text {
    match fact {
        Fact::WindowOverAll => texts::F_WINDOW,
        Fact::SharedKeyBias => texts::F_SHARED_K,
        Fact::PositionKeyBias => texts::F_POSITION_K,
        Fact::SharedKeyBiasProduct => texts::F_SHARED_K_PRODUCT,
        Fact::SharedValueBias => texts::F_SHARED_V,
        Fact::ShiftOfScoreBias => texts::F_SHIFT,
        Fact::RowSums => texts::F_ROWS,
        Fact::ProductRowSums => texts::F_PRODUCT_ROWS,
        Fact::SegmentSums => texts::F_SEGMENTS,
        Fact::OutputRank => texts::F_OUT_RANK,
        Fact::ScoreRank => texts::F_SCORE_RANK,
        Fact::EmptyRow => texts::F_EMPTY,
        Fact::SameBits => texts::F_BITS,
    }
}
