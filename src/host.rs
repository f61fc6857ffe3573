//! `window.attnscope`: what a host page, a lesson script or a test can ask of the page. Data only;
//! everything that changes the page is a Scene.

use js_sys::{Array, Float32Array, Function, Object, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::{CustomEvent, CustomEventInit};

use crate::components::lesson;
use crate::scheduler;
use crate::state::address;
use crate::state::{AppState, EngineState};
use attnscope_attention::summary::Summary;
use attnscope_engine::Engine;
use attnscope_scene::link_words::Word as _;
use attnscope_scene::{LessonId, Scene};
use attnscope_text::sentence::Said;
use attnscope_text::symbols;

/// Puts the API on the window. `said` is the sentence on screen.
///
/// | call | gives |
/// |---|---|
/// | `ready()` | promise of `{backend, adapter}` of the engine that draws: WebGPU or CPU |
/// | `scene()` | the Scene as a fragment, as it is shown |
/// | `set(fragment)` | takes a fragment; the Scene becomes that of the fragment |
/// | `lesson(id)` | opens a starter scene; false when there is none of this name |
/// | `settled()` | promise, resolved when the newest Scene is drawn with everything beside it |
/// | `readMap()` | promise of `{rows, cols, values, visible}` of the newest Scene, as drawn |
/// | `report()` | numbers of the newest finished frame |
/// | `summary()` | facts of the chosen head, or null |
/// | `sentence()` | the sentence on screen |
/// | `frames()` | frames drawn so far |
/// | `latencies()` | ms from input event to presented frame since the last call |
/// | `parseFragment(text)` | `{fragment, warnings, version}` of any text |
///
/// [`tell_state`] tells which engine draws whenever that changes: `probing`, `gpu`, `lost`,
/// `recovering`, `cpu`; `www/boot.js` tells `panicked`.
pub fn expose(state: AppState, said: Memo<Said>) {
    Effect::new(move || tell_state(state.engine.with(EngineState::name)));
    let api = Object::new();
    give(&api, "ready", move |_| {
        future_to_promise(ready(state)).into()
    });
    give(&api, "scene", move |_| {
        untrack(|| state.shown()).to_fragment().into()
    });
    give(&api, "set", move |text| {
        let (scene, problems) = address::parse(&text.as_string().unwrap_or_default());
        address::tell(state, problems);
        state.scene.set(scene);
        JsValue::UNDEFINED
    });
    give(&api, "lesson", move |name| {
        let name = name.as_string().unwrap_or_default();
        let id = LessonId::from_word(&name);
        id.map(|id| lesson::open(state, id)).is_some().into()
    });
    give(&api, "settled", |_| future_to_promise(settled()).into());
    give(&api, "readMap", |_| future_to_promise(read_map()).into());
    give(&api, "report", move |_| state.report.with_untracked(report));
    give(&api, "summary", move |_| {
        state.summary.with_untracked(|summary| {
            summary
                .as_ref()
                .map_or(JsValue::NULL, |(_, facts)| facts_of(facts))
        })
    });
    give(&api, "sentence", move |_| {
        symbols::written(&said.get_untracked().text).as_ref().into()
    });
    give(&api, "frames", |_| (scheduler::frames() as f64).into());
    give(&api, "latencies", |_| {
        scheduler::latencies()
            .into_iter()
            .map(JsValue::from)
            .collect::<Array>()
            .into()
    });
    give(&api, "parseFragment", |text| {
        let parsed = Scene::from_fragment(&text.as_string().unwrap_or_default());
        let answer = Object::new();
        set(&answer, "fragment", parsed.scene.to_fragment());
        set(&answer, "warnings", parsed.warnings.len() as f64);
        set(&answer, "version", parsed.version);
        answer.into()
    });
    set(&window(), "attnscope", api);
}

fn set(object: &JsValue, name: &str, value: impl Into<JsValue>) {
    // A plain object takes every property.
    let _ = Reflect::set(object, &name.into(), &value.into());
}

fn give(api: &Object, name: &str, call: impl Fn(JsValue) -> JsValue + 'static) {
    let closure = Closure::<dyn Fn(JsValue) -> JsValue>::new(call);
    // The page's own API: it lives as long as the page.
    set(
        api,
        name,
        closure.into_js_value().unchecked_into::<Function>(),
    );
}

/// One animation frame, or a tenth of a second where the browser gives none.
async fn next_frame() {
    let promise = Promise::new(&mut |resolve, _| {
        // Without a window there is no page to wait for.
        let _ = window().request_animation_frame(&resolve);
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, 100);
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}

async fn ready(state: AppState) -> Result<JsValue, JsValue> {
    let none = |state: AppState| {
        state
            .engine
            .with_untracked(|engine| matches!(engine, EngineState::Probing | EngineState::Lost(..)))
    };
    while none(state) {
        next_frame().await;
    }
    let capabilities = scheduler::with_engine(|engine| engine.capabilities().clone());
    let capabilities = capabilities.ok_or("there is no engine")?;
    let answer = Object::new();
    set(&answer, "backend", capabilities.backend);
    set(&answer, "adapter", capabilities.adapter);
    set(&answer, "timestamps", capabilities.timestamps);
    Ok(answer.into())
}

/// The state of the engine for host pages and style sheets: `data-state` of the root element, and
/// the event `attnscope:state` with the same word as its detail.
pub fn tell_state(name: &str) {
    if let Some(root) = document().document_element() {
        // Only a malformed name is refused, and ours is not.
        let _ = root.set_attribute("data-state", name);
    }
    let init = CustomEventInit::new();
    init.set_detail(&name.into());
    if let Ok(event) = CustomEvent::new_with_event_init_dict("attnscope:state", &init) {
        // False would mean that a listener cancelled it, which changes nothing.
        let _ = window().dispatch_event(&event);
    }
}

async fn settled() -> Result<JsValue, JsValue> {
    // Effects of a Scene that was set just now run before the next frame.
    next_frame().await;
    while !scheduler::is_settled() {
        next_frame().await;
    }
    Ok(JsValue::UNDEFINED)
}

async fn read_map() -> Result<JsValue, JsValue> {
    // Effects of a Scene that was set just now run before the next frame.
    next_frame().await;
    while !scheduler::is_drawn() {
        next_frame().await;
    }
    let values = scheduler::with_engine(Engine::read_map).ok_or("there is no engine")?;
    let map = values.await.map_err(|e| JsValue::from(e.to_string()))?;
    let answer = Object::new();
    set(&answer, "rows", map.rows);
    set(&answer, "cols", map.cols);
    set(&answer, "values", Float32Array::from(map.values.as_slice()));
    set(
        &answer,
        "visible",
        Float32Array::from(map.visible.as_slice()),
    );
    Ok(answer.into())
}

fn facts_of(summary: &Summary) -> JsValue {
    let list = |numbers: &[f64]| {
        numbers
            .iter()
            .copied()
            .map(JsValue::from)
            .collect::<Array>()
    };
    let answer = Object::new();
    set(&answer, "visible_min", summary.visible_min);
    set(&answer, "visible_max", summary.visible_max);
    set(&answer, "visible_mean", summary.visible_mean);
    set(&answer, "empty_rows", summary.empty_rows);
    let strongest = summary
        .strongest
        .map(|(i, j, weight)| list(&[i as f64, j as f64, weight]));
    set(&answer, "strongest", or_null(strongest));
    let favourite = summary.favourite.map(|(j, mean)| list(&[j as f64, mean]));
    set(&answer, "favourite", or_null(favourite));
    let offset = summary.offset.map(|(by, mean)| list(&[by.into(), mean]));
    set(&answer, "offset", or_null(offset));
    set(
        &answer,
        "row_sum",
        list(&[summary.row_sum.0, summary.row_sum.1]),
    );
    set(&answer, "negative", summary.negative);
    set(&answer, "entropy", or_null(summary.entropy));
    let lost = summary.lost.as_ref().map(|lost| {
        let answer = Object::new();
        set(&answer, "mean", lost.mean);
        set(&answer, "row", lost.row);
        set(&answer, "share", lost.share);
        set(&answer, "key", lost.key);
        set(&answer, "key_share", lost.key_share);
        answer
    });
    set(&answer, "lost", or_null(lost));
    set(&answer, "moved", summary.moved);
    answer.into()
}

fn or_null(value: Option<impl Into<JsValue>>) -> JsValue {
    value.map_or(JsValue::NULL, Into::into)
}

fn report(report: &attnscope_engine::FrameReport) -> JsValue {
    let answer = Object::new();
    set(&answer, "frame", report.frame as f64);
    set(
        &answer,
        "gpu_ms",
        report.gpu_ms.map_or(JsValue::NULL, JsValue::from),
    );
    if let Some((low, high)) = report.map_range {
        set(&answer, "map_range", Array::of2(&low.into(), &high.into()));
    }
    set(&answer, "output_energy", report.output_energy);
    set(
        &answer,
        "component_energy",
        Float32Array::from(report.component_energy.as_slice()),
    );
    answer.into()
}
