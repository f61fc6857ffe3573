//! The address bar holds the Scene: every link is complete, going back is undo.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;

use super::problem::Problem;
use super::state::AppState;
use crate::scene::Scene;
use crate::scene::permalink::VERSION;
use crate::ui::memo::effect;

/// A pause of so many milliseconds makes the next change an undo step of its own.
const STEP_MS: f64 = 600.0;

/// The Scene of the address, and what was wrong with it.
pub fn read() -> (Scene, Vec<Problem>) {
    // In a sandboxed frame the location can be read; where it cannot, the default Scene is right.
    let hash = window().location().hash().unwrap_or_default();
    let parsed = Scene::from_fragment(&hash);
    let mut problems = Vec::new();
    if parsed.version > VERSION {
        problems.push(Problem::LinkNewer(parsed.version));
    }
    if !parsed.warnings.is_empty() {
        let quoted = parsed
            .warnings
            .iter()
            .map(|w| format!("{}={}", w.key, w.value));
        problems.push(Problem::LinkWarnings(quoted.collect()));
    }
    (parsed.scene, problems)
}

/// Keeps address and Scene the same, in both directions.
pub fn follow(state: AppState) {
    let written = Rc::new(RefCell::new(state.scene.with_untracked(Scene::to_fragment)));
    let last = Rc::new(RefCell::new(f64::NEG_INFINITY));

    let of_page = written.clone();
    effect(move || {
        let fragment = state.scene.with(Scene::to_fragment);
        if *of_page.borrow() == fragment {
            return;
        }
        let now = window().performance().map_or(0.0, |p| p.now());
        let step = now - *last.borrow() > STEP_MS;
        *last.borrow_mut() = now;
        *of_page.borrow_mut() = fragment.clone();
        write(&fragment, step && !state.embedded);
    });

    let back = window_event_listener(leptos::ev::hashchange, move |_| {
        let (scene, problems) = read();
        let fragment = scene.to_fragment();
        if *written.borrow() == fragment {
            return;
        }
        *written.borrow_mut() = fragment;
        state.scene.set(scene);
        state.problems.update(|all| all.extend(problems));
    });
    on_cleanup(move || back.remove());
}

fn write(fragment: &str, step: bool) {
    let address = format!("#{fragment}");
    // Both throw in some sandboxed frames, where the link in the share menu remains.
    let _ = window().history().and_then(|history| {
        let state = wasm_bindgen::JsValue::NULL;
        if step {
            history.push_state_with_url(&state, "", Some(&address))
        } else {
            history.replace_state_with_url(&state, "", Some(&address))
        }
    });
}
