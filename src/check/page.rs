//! The page `check.html`: facts with a tick that this device computed just now, and golden cases
//! from `?case=` addresses or chosen files. Results are rows with data attributes, so that a
//! browser test reads what a person reads.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlInputElement, UrlSearchParams};

use super::dom::{self, append, child, close_on_escape, element, set, set_root, text};
use super::facts::{Bench, Fact};
use super::finding::Finding;
use super::judge::judge;
use super::reason;
use super::wish::{Wish, parse};
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
    let page = Page::new(lang);
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
    spawn_local(Rc::new(page).run(addresses));
}

struct Page {
    lang: Lang,
    /// Carries the state as `data-state`: running, done or failed.
    main: Element,
    intro: Element,
    summary: Element,
    facts: Element,
    cases: Element,
    input: HtmlInputElement,
    wishes: RefCell<VecDeque<Wish>>,
    /// The engine, while nobody uses it.
    engine: RefCell<Option<GpuEngine>>,
}

impl Page {
    fn new(lang: Lang) -> Self {
        let say = |text: Text| text.pick(lang);
        let main = element("main", "proof");
        let head = |of: &Element, names: &[Text]| {
            let table = child(of, "table", "proof-table");
            let row = child(&child(&table, "thead", ""), "tr", "");
            for name in names {
                let cell = child(&row, "th", "");
                set(&cell, "scope", "col");
                dom::say(&cell, say(*name));
            }
            child(&table, "tbody", "")
        };
        text(&main, "h1", say(texts::HEADING));
        let intro = text(&main, "p", say(texts::INTRO));
        let summary = text(&main, "p", say(texts::RUNNING));
        set(&summary, "role", "status");
        let facts = head(&main, &[texts::FACT, texts::LARGEST, texts::ALLOWED]);
        text(&main, "h2", say(texts::CASES));
        text(&main, "p", say(texts::CASES_INTRO));
        let label = text(&main, "label", say(texts::CHOOSE));
        let input: HtmlInputElement = child(&label, "input", "").unchecked_into();
        for (name, value) in [
            ("type", "file"),
            ("multiple", ""),
            ("disabled", ""),
            ("accept", ".safetensors"),
        ] {
            set(&input, name, value);
        }
        let cases = head(
            &main,
            &[
                texts::CASE,
                texts::WORST,
                texts::GOT,
                texts::WANTED,
                texts::LARGEST,
                texts::ALLOWED,
            ],
        );
        set(&main, "data-state", "running");
        if let Some(body) = document().body() {
            append(&body, &main);
        }
        Self {
            lang,
            main,
            intro,
            summary,
            facts,
            cases,
            input,
            wishes: RefCell::default(),
            engine: RefCell::default(),
        }
    }

    /// Checks the facts, then every case that is wished for.
    async fn run(self: Rc<Self>, addresses: Vec<String>) {
        let mut engine = match GpuEngine::new().await {
            Ok(engine) => engine,
            Err(why) => {
                let why = why.to_string();
                self.intro.remove();
                self.say(&texts::NO_ENGINE.fill(self.lang, &[("why", &why)]));
                return set(&self.main, "data-state", "failed");
            }
        };
        let adapter = engine.capabilities().adapter.clone();
        set(&self.main, "data-adapter", &adapter);
        self.check_facts(&mut engine, &adapter).await;
        self.wishes
            .borrow_mut()
            .extend(addresses.into_iter().map(Wish::Address));
        self.work(engine).await;
        self.listen();
    }

    /// Checks what is wished for, until nothing is; then the engine waits for the next.
    async fn work(&self, mut engine: GpuEngine) {
        set(&self.main, "data-state", "running");
        loop {
            let next = self.wishes.borrow_mut().pop_front();
            let Some(wish) = next else { break };
            self.check_case(&mut engine, wish).await;
        }
        *self.engine.borrow_mut() = Some(engine);
        set(&self.main, "data-state", "done");
    }

    /// Chosen files come one after the other, whenever they are chosen.
    fn listen(self: Rc<Self>) {
        let page = self.clone();
        let chosen = Closure::<dyn FnMut()>::new(move || {
            let files = page.input.files();
            let count = files.as_ref().map_or(0, web_sys::FileList::length);
            let files = (0..count).filter_map(|at| files.as_ref()?.get(at));
            page.wishes.borrow_mut().extend(files.map(Wish::File));
            // Busy: whoever works will find them.
            if let Some(engine) = page.engine.borrow_mut().take() {
                let page = page.clone();
                spawn_local(async move { page.work(engine).await });
            }
        });
        let heard = chosen.as_ref().unchecked_ref();
        // The page and its listener end together.
        if self
            .input
            .add_event_listener_with_callback("change", heard)
            .is_ok()
        {
            chosen.forget();
        }
        let _ = self.input.remove_attribute("disabled");
    }

    async fn check_facts(&self, engine: &mut GpuEngine, adapter: &str) {
        let mut bench = Bench::new(engine);
        let mut bad = 0;
        for fact in Fact::ALL {
            match bench.measure(fact).await {
                Ok(found) => {
                    bad += usize::from(!found.holds);
                    self.show_fact(fact, &found);
                }
                Err(why) => return self.say(&reason::of_engine(self.lang, &why)),
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
        self.say(&format!("{verdict} {on}"));
    }

    fn show_fact(&self, fact: Fact, found: &Finding) {
        let row = child(&self.facts, "tr", "");
        set(&row, "data-fact", &format!("{fact:?}"));
        self.mark(&row, found.holds, says(fact).pick(self.lang));
        text(&row, "td", &small(found.difference));
        let bound = if found.bound == 0.0 {
            texts::EXACTLY
        } else if found.exceeds {
            texts::AT_LEAST
        } else {
            texts::AT_MOST
        };
        text(
            &row,
            "td",
            &bound.fill(self.lang, &[("bound", &small(found.bound))]),
        );
    }

    /// A tick or a cross, in shape, colour and words, before what it is about.
    fn mark(&self, row: &Element, holds: bool, what: &str) {
        set(row, "data-holds", if holds { "true" } else { "false" });
        let cell = child(row, "th", "");
        set(&cell, "scope", "row");
        let sign = child(&cell, "span", if holds { "tick" } else { "cross" });
        sign.set_text_content(Some(if holds { "✓" } else { "✗" }));
        set(&sign, "role", "img");
        let words = if holds { texts::HOLDS } else { texts::FAILS };
        set(&sign, "aria-label", words.pick(self.lang));
        text(&cell, "span", what);
    }

    async fn check_case(&self, engine: &mut GpuEngine, wish: Wish) {
        let name = wish.name();
        let bytes = match wish.bytes(self.lang).await {
            Ok(bytes) => bytes,
            Err(why) => return self.refuse(texts::NOT_LOADED, &name, &why),
        };
        let case = match parse(&name, &bytes).await {
            Ok(case) => case,
            Err(why) => {
                let why = reason::of_file(self.lang, &why);
                return self.refuse(texts::BAD_CASE, &name, &why);
            }
        };
        match judge(engine, &case).await {
            Ok(found) => found.iter().for_each(|found| self.show_case(&name, found)),
            Err(why) => {
                let why = reason::of_engine(self.lang, &why);
                self.refuse(texts::BAD_CASE, &name, &why);
            }
        }
    }

    fn show_case(&self, name: &str, found: &Comparison) {
        let row = child(&self.cases, "tr", "");
        let difference = (found.got - found.want).abs();
        for (key, value) in [
            ("data-case", name.to_owned()),
            ("data-what", found.what.clone()),
            ("data-difference", difference.to_string()),
            ("data-allowed", found.allowed.to_string()),
        ] {
            set(&row, key, &value);
        }
        self.mark(&row, found.is_equal(), &found.what);
        for words in [
            found.index.to_string(),
            small(found.got),
            small(found.want),
            small(difference),
            small(found.allowed),
        ] {
            text(&row, "td", &words);
        }
    }

    /// A row that says why a case was not checked.
    fn refuse(&self, words: Text, name: &str, why: &str) {
        let row = child(&self.cases, "tr", "");
        set(&row, "data-case", name);
        self.mark(
            &row,
            false,
            &words.fill(self.lang, &[("name", name), ("why", why)]),
        );
    }

    fn say(&self, words: &str) {
        dom::say(&self.summary, words);
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
