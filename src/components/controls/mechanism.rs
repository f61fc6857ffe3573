//! Which mechanism, and how CJAR's formula is read.

use leptos::prelude::*;

use crate::components::controls::choice::{Choice, Item};
use crate::state::AppState;
use crate::state::derived::part;
use attnscope_attention::config::Reading;
use attnscope_scene::Mechanism;
use attnscope_text::controls as words;

/// Full, window or CJAR.
#[component]
pub fn MechanismChoice() -> impl IntoView {
    let app = AppState::get();
    let item = |of| {
        let (name, hint) = words::mechanism(of);
        Item::new(of, name, hint)
    };
    view! {
        <Choice
            name="mechanism"
            legend=words::MECHANISM
            options=vec![item(Mechanism::Full), item(Mechanism::Window), item(Mechanism::Cjar)]
            value=part(app, |s| s.mechanism)
            set=Callback::new(move |to| app.change(|s| s.mechanism = to))
            look="cards"
        />
    }
}

/// The three readings of CJAR (SPEC 3).
#[component]
pub fn ReadingChoice() -> impl IntoView {
    let app = AppState::get();
    let item = |of| {
        let (name, hint) = words::reading(of);
        Item::new(of, name, hint)
    };
    view! {
        <Choice
            name="reading"
            key="reading"
            legend=words::READING
            options=vec![item(Reading::Softmax), item(Reading::Bias), item(Reading::Product)]
            value=part(app, |s| s.cjar.reading)
            set=Callback::new(move |to| app.change(|s| s.cjar.reading = to))
            look="lines"
        />
    }
}
