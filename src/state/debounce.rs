//! Texts that follow the hand more slowly than the picture: sentences once it is at rest, numbers a
//! few times a second.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use crate::components::rich_text::rich;

/// How long a sentence must stay the same before it is shown.
const REST: Duration = Duration::from_millis(500);

/// Shortest time between two changes of a number, in ms: nobody reads faster.
const PACE: f64 = 100.0;

/// `value`, updated at most ten times a second, always ending at the newest: every change of a text
/// makes the browser lay out and paint, and the picture on its canvas must not wait for that.
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
            // One timer at a time: until it fires, `next` is out of reach.
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

/// The sentence of a panel, in a polite live region and debounced: screen readers announce where a
/// drag ended and not each of its steps. It keeps its room.
#[component]
pub fn Quiet(
    /// The current sentence; empty while there is none.
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
                // The panel may be closed by now.
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
