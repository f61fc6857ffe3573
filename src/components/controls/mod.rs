//! The controls: which mechanism, what it sees, what it adds.

pub mod bias;
pub mod choice;
pub mod code;
pub mod curve;
pub mod mechanism;
pub mod rank;
pub mod slider;
pub mod window;

use leptos::prelude::*;

use crate::state::AppState;
use crate::state::derived::{part, t};
use attnscope_scene::{Control, Mechanism, Scene};
use attnscope_text::page as words;

/// A control is on screen: the page shows all, an embed those that it asks for or else those of its
/// mechanism.
pub fn is_shown(scene: &Scene, embedded: bool, control: Control) -> bool {
    if !embedded {
        return true;
    }
    if scene.show.is_empty() {
        return match control {
            Control::Window => scene.window_acts(),
            Control::Bias | Control::Rank => scene.mechanism == Mechanism::Cjar,
            _ => false,
        };
    }
    scene.show.contains(&control)
}

/// All controls that act in the present mechanism.
#[component]
pub fn Controls() -> impl IntoView {
    let app = AppState::get();
    let shows = move |control| part(app, move |s| is_shown(s, app.embedded, control));
    let (mechanism, window) = (shows(Control::Mechanism), shows(Control::Window));
    let (bias, rank) = (shows(Control::Bias), shows(Control::Rank));
    let cjar = part(app, |s| s.mechanism == Mechanism::Cjar);
    let whole = !app.embedded;
    view! {
        <div class="controls" role="group" aria-label=t(words::CONTROLS)>
            <Show when=move || mechanism.get()>
                <mechanism::MechanismChoice />
            </Show>
            <Show when=move || window.get()>
                <window::Mask />
            </Show>
            <Show when=move || cjar.get() && bias.get()>
                <mechanism::ReadingChoice />
                <curve::ScoreCurve />
                <bias::KeyBias />
            </Show>
            <Show when=move || cjar.get() && rank.get()>
                <rank::OutputRank />
            </Show>
            <Show when=move || cjar.get() && bias.get() && whole>
                <bias::ValueBias />
            </Show>
            <Show when=move || whole>
                <rank::MoreScore />
                <code::MaskCode />
            </Show>
        </div>
    }
}
