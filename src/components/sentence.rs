//! The sentence about the picture: one block that keeps its room.

use leptos::prelude::*;

use crate::components::controls::rank::energy_kept;
use crate::components::rich_text::rich;
use crate::scheduler;
use crate::state::AppState;
use crate::state::derived::Derived;
use crate::state::window_stats::Reach;
use attnscope_text::sentence::{self, Said, SentenceInput};
use attnscope_worker::compute_protocol::MAX_SUMMARY_LEN;

/// The sentence on screen, for the page and for whoever asks from outside; empty until there are
/// numbers to make it from.
pub fn spoken(app: AppState, derived: Derived) -> Memo<Said> {
    Memo::new(move |_| {
        let lang = derived.lang.get();
        derived.tokens.with(|tokens| {
            app.summary.with(|known| {
                let Some((scene, summary)) = known else {
                    let long = tokens.len() > MAX_SUMMARY_LEN;
                    return if long {
                        let text = sentence::too_long(lang, MAX_SUMMARY_LEN);
                        Said { text, cell: None }
                    } else {
                        Said::default()
                    };
                };
                let reach = Reach::of(scene, derived.sizes.get().seq_len);
                let energy = |rank| app.sigma.with(|sigma| energy_kept(sigma, rank as usize));
                let rank_energy = scene
                    .cjar
                    .out_rank
                    .and_then(|rank| energy(rank).map(|energy| (rank, energy)));
                // The summary is of the weights whatever is looked at; the sentence is about the picture.
                let mut scene = scene.clone();
                scene.view.quantity = app.scene.with(|now| now.view.quantity);
                sentence::said(
                    lang,
                    &SentenceInput {
                        scene: &scene,
                        head: scene.head(derived.sizes.get().heads as usize) as u32,
                        summary,
                        tokens,
                        reach: (reach.left, reach.right),
                        rank_energy,
                    },
                )
            })
        })
    })
}

/// The summary follows when the hand rests: until then they are of an earlier Scene.
pub fn is_late(app: AppState) -> Memo<bool> {
    Memo::new(move |_| {
        let now = app.scene.with(scheduler::summary_key);
        app.summary
            .with(|known| known.as_ref().is_some_and(|(scene, _)| *scene != now))
    })
}

/// The sentence.
#[component]
pub fn Sentence() -> impl IntoView {
    let app = AppState::get();
    let said = spoken(app, Derived::get());
    let is_late = is_late(app);
    view! {
        <p class="sentence" class:is-late=move || is_late.get() aria-live="polite">
            {rich(move || said.with(|said| said.text.clone()))}
        </p>
    }
}
