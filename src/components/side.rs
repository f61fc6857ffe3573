//! The side of the page: the cell, output or cost panel, one at a time.

use leptos::prelude::*;

use crate::components::cost::Cost;
use crate::components::focus::focus;
use crate::components::inspector::Inspector;
use crate::components::output::Output;
use crate::state::AppState;
use crate::state::derived::{part, t};
use attnscope_scene::Panel;
use attnscope_text::{Text, side as words};

const TABS: [(Panel, Text, &str); 3] = [
    (Panel::Cell, words::TAB_CELL, "tab-cell"),
    (Panel::Output, words::TAB_OUTPUT, "tab-output"),
    (Panel::Cost, words::TAB_COST, "tab-cost"),
];

/// Tabs and the open panel.
#[component]
pub fn Side() -> impl IntoView {
    let app = AppState::get();
    let open = part(app, |s| s.view.panel);
    let choose = move |panel| app.change(|s| s.view.panel = panel);
    // Arrow keys move through the tabs, as in any tab list.
    let on_key = move |ev: web_sys::KeyboardEvent| {
        let at = TABS
            .iter()
            .position(|tab| tab.0 == open.get_untracked())
            .unwrap_or(0);
        let to = match ev.key().as_str() {
            "ArrowRight" => (at + 1) % TABS.len(),
            "ArrowLeft" => (at + TABS.len() - 1) % TABS.len(),
            _ => return,
        };
        ev.prevent_default();
        choose(TABS[to].0);
        // The focus follows the choice; if it cannot, the choice still holds.
        focus(TABS[to].2);
    };
    let tabs = TABS.map(|(panel, name, id)| {
        view! {
            <button
                type="button"
                role="tab"
                id=id
                aria-controls="panel"
                aria-selected=move || (open.get() == panel).to_string()
                tabindex=move || if open.get() == panel { "0" } else { "-1" }
                on:click=move |_| choose(panel)
            >
                {t(name)}
            </button>
        }
    });
    let label = move || TABS.iter().find(|tab| tab.0 == open.get()).map(|tab| tab.2);
    view! {
        <div class="tabs" role="tablist" aria-label=t(words::PANELS) on:keydown=on_key>
            {tabs}
        </div>
        <div class="panel" id="panel" role="tabpanel" aria-labelledby=label>
            {move || match open.get() {
                Panel::Cell => view! { <Inspector /> }.into_any(),
                Panel::Output => view! { <Output /> }.into_any(),
                Panel::Cost => view! { <Cost /> }.into_any(),
            }}
        </div>
    }
}
