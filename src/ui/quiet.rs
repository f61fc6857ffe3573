//! Sentences that are said once the hand is at rest.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use crate::ui::markup::{View, view};
use crate::ui::memo::{Memo, effect};

/// How long a sentence must have stayed the same.
const REST: Duration = Duration::from_millis(500);

/// The sentence of a panel, polite and debounced: whoever listens hears where a drag ended and not
/// each of its steps. It keeps its room.
#[component(transparent)]
pub fn Quiet(
    /// What there is to say now; empty while nothing is.
    text: Memo<String>,
) -> View {
    let said = RwSignal::new(text.get_untracked());
    let newest = Rc::new(Cell::new(0u32));
    effect(move || {
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
            {move || said.get()}
        </p>
    }
}
