//! Claimed, counted and measured, side by side.

use leptos::prelude::*;

/// The cost panel.
#[component]
pub fn Cost() -> impl IntoView {
    view! { <p class="hint"></p> }
}
