//! Texts that follow the hand less often than the picture: sentences once it is at rest, numbers a few
//! times a second.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use crate::components::rich_text::rich;

/// How long a sentence must have stayed the same.
const REST: Duration = Duration::from_millis(500);

/// Nobody reads numbers that change more often, in ms.
const PACE: f64 = 100.0;

/// `value` at most ten times a second, and as it is in the end: every change of a text makes the
/// browser lay out and paint, which a picture on its canvas need not wait for.
pub fn paced(value: Memo<u32>) -> Memo<u32> {
    let now = || window().performance().map_or(0.0, |clock| clock.now());
    let told = RwSignal::new(value.get_untracked());
    let newest = Rc::new(Cell::new(value.get_untracked()));
    let next = Rc::new(Cell::new(0.0f64));
    Effect::new(move || {
        newest.set(value.get());
        let wait = next.get() - now();
        if wait <= 0.0 {
            next.set(now() + PACE);
            told.set(newest.get());
        } else if wait <= PACE {
            // One timer: until it has told, the next time stays out of reach.
            next.set(f64::MAX);
            let (newest, next) = (newest.clone(), next.clone());
            set_timeout(
                move || {
                    next.set(now() + PACE);
                    let _ = told.try_set(newest.get());
                },
                Duration::from_secs_f64(wait / 1000.0),
            );
        }
    });
    Memo::new(move |_| told.get())
}

/// The sentence of a panel, polite and debounced: whoever listens hears where a drag ended and not
/// each of its steps. It keeps its room.
#[component]
pub fn Quiet(
    /// What there is to say now; empty while nothing is.
    text: Memo<String>,
) -> impl IntoView {
    let said = RwSignal::new(text.get_untracked());
    let newest = Rc::new(Cell::new(0u32));
    Effect::new(move || {
        let (now, newest) = (text.get(), newest.clone());
        let mine = newest.get().wrapping_add(1);
        newest.set(mine);
        set_timeout(
            move || {
                // The panel may be closed by now: then nobody listens.
                if newest.get() == mine {
                    let _ = said.try_set(now);
                }
            },
            REST,
        );
    });
    view! {
        <p class="panel-sentence" aria-live="polite">
            {rich(move || said.get())}
        </p>
    }
}
