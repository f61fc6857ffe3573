//! The address bar holds the Scene: every link is complete, and going back is undo.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use crate::state::AppState;
use crate::state::problem::Problem;
use attnscope_scene::Scene;
use attnscope_scene::permalink::VERSION;
use attnscope_scene::warning::{Reason, Warning};

/// Pause before the address follows: each write costs the browser more than a picture, and
/// intermediate values are no undo steps.
const PAUSE: Duration = Duration::from_millis(300);

/// The Scene of the address, and what was wrong with it.
pub fn read() -> (Scene, Vec<Problem>) {
    // A sandboxed frame can read its location; where that fails, the default Scene is right.
    let hash = window().location().hash().unwrap_or_default();
    parse(&hash)
}

/// The Scene of any text, and what was wrong with it.
pub fn parse(text: &str) -> (Scene, Vec<Problem>) {
    let parsed = Scene::from_fragment(text);
    let mut problems = Vec::new();
    if parsed.version > VERSION {
        // As written in the link: it may exceed any of our number types.
        let newer = |w: &&Warning| w.reason == Reason::NewerVersion;
        let said = parsed.warnings.iter().find(newer);
        let version = said.map_or_else(|| parsed.version.to_string(), |w| w.value.clone());
        problems.push(Problem::LinkNewer(version));
    }
    let misfits: Vec<_> = parsed
        .warnings
        .into_iter()
        .filter(|warning| warning.reason != Reason::NewerVersion)
        .map(|warning| {
            let used = parsed.scene.value(&warning.key);
            (warning, used.unwrap_or_default())
        })
        .collect();
    if !misfits.is_empty() {
        problems.push(Problem::LinkWarnings(misfits));
    }
    (parsed.scene, problems)
}

/// Reports what is wrong with the newest link; replaces the report on the previous one.
pub fn tell(state: AppState, problems: Vec<Problem>) {
    let of_a_link = |problem: &Problem| {
        matches!(
            problem,
            Problem::LinkWarnings(_) | Problem::LinkNewer(_) | Problem::LayerLimits(_)
        )
    };
    state.tell(of_a_link, problems);
    // Limits of this link's layer are reported even if the previous link had the same.
    state.limited.set(Vec::new());
}

/// The address as last written.
#[derive(Clone, PartialEq)]
struct Written {
    /// The Scene as it was asked for.
    asked: String,
    /// The Scene as it is shown.
    link: String,
}

/// Keeps address and Scene in step, in both directions.
pub fn follow(state: AppState) {
    let as_read = |fragment: String| Written {
        asked: fragment.clone(),
        link: fragment,
    };
    let fragment = state.scene.with_untracked(Scene::to_fragment);
    let written = Rc::new(RefCell::new(as_read(fragment)));
    let of_page = written.clone();
    let write_now = Rc::new(move || {
        let now = Written {
            asked: state.scene.with_untracked(Scene::to_fragment),
            link: untrack(|| state.shown()).to_fragment(),
        };
        let before = of_page.replace(now.clone());
        if before.link != now.link {
            // A limit of the layer is not a step of the reader's: going back would lead to it
            // again.
            write(&now.link, !state.embedded && before.asked != now.asked);
        }
    });

    let pending: Rc<Cell<Option<TimeoutHandle>>> = Rc::default();
    let held: Rc<Cell<bool>> = Rc::default();
    let write_soon = {
        let (write, held) = (write_now.clone(), held.clone());
        Rc::new(move || {
            if let Some(earlier) = pending.take() {
                earlier.clear();
            }
            let (write, held) = (write.clone(), held.clone());
            let act = move || {
                // A drag is one step, however long the hand pauses.
                if !held.get() {
                    write();
                }
            };
            pending.set(set_timeout_with_handle(act, PAUSE).ok());
        })
    };
    let pressed = held.clone();
    let down = window_event_listener(leptos::ev::pointerdown, move |ev| {
        // Only sliders: for other controls the end of a press may never be heard, since an open
        // list swallows it.
        let slider = event_target::<web_sys::Element>(&ev).matches("input[type='range']");
        pressed.set(slider.unwrap_or(false));
    });
    on_cleanup(move || down.remove());
    let release = {
        let write_soon = write_soon.clone();
        move || {
            held.set(false);
            write_soon();
        }
    };
    let (released, let_go) = (release.clone(), release.clone());
    let up = window_event_listener(leptos::ev::pointerup, move |_| released());
    on_cleanup(move || up.remove());
    let cancelled = window_event_listener(leptos::ev::pointercancel, move |_| let_go());
    on_cleanup(move || cancelled.remove());
    // A key ends a drag whose end was not heard.
    let key = window_event_listener(leptos::ev::keydown, move |_| release());
    on_cleanup(move || key.remove());
    // A loaded layer may limit the Scene. A memo, because a loading layer reports progress all the
    // time.
    let sizes = Memo::new(move |_| state.sizes());
    Effect::new(move || {
        state.scene.track();
        // Read it, not only track it: a memo that nobody reads never runs.
        let _ = sizes.get();
        write_soon();
    });
    let leave = window_event_listener(leptos::ev::pagehide, move |_| write_now());
    on_cleanup(move || leave.remove());

    let back = window_event_listener(leptos::ev::hashchange, move |_| {
        let (scene, problems) = read();
        tell(state, problems);
        let fragment = scene.to_fragment();
        if written.borrow().link == fragment {
            return;
        }
        *written.borrow_mut() = as_read(fragment);
        state.scene.set(scene);
    });
    on_cleanup(move || back.remove());
}

fn write(fragment: &str, step: bool) {
    let address = format!("#{fragment}");
    // Both throw in some sandboxed frames; the link in the share menu still works there.
    let _ = window().history().and_then(|history| {
        let state = wasm_bindgen::JsValue::NULL;
        if step {
            history.push_state_with_url(&state, "", Some(&address))
        } else {
            history.replace_state_with_url(&state, "", Some(&address))
        }
    });
}
