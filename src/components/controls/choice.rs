//! Choosing one of a few: radio groups, selects, a switch.

use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::state::derived::t;
use attnscope_text::Text;

/// One option.
#[derive(Clone, Copy)]
pub struct Item<T> {
    /// Its value.
    pub value: T,
    /// Its name.
    pub name: Text,
    /// One line about it.
    pub hint: Option<Text>,
}

impl<T> Item<T> {
    /// An option with one line about it.
    pub const fn new(value: T, name: Text, hint: Text) -> Self {
        Self {
            value,
            name,
            hint: Some(hint),
        }
    }

    /// An option without a hint.
    pub const fn named(value: T, name: Text) -> Self {
        Self {
            value,
            name,
            hint: None,
        }
    }
}

/// A radio group.
#[component]
pub fn Choice<T>(
    /// Group name; element ids derive from it.
    name: &'static str,
    /// Its label.
    legend: Text,
    /// The options.
    options: Vec<Item<T>>,
    /// The chosen value.
    value: Memo<T>,
    /// Called with the new choice.
    set: Callback<T>,
    /// Style: "cards", "segments" or "lines".
    look: &'static str,
    /// Its link parameter, if a move of a lesson can change it.
    #[prop(optional)]
    key: Option<&'static str>,
) -> impl IntoView
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let items = options
        .into_iter()
        .enumerate()
        .map(|(at, option)| {
            let id = format!("{name}-{at}");
            let target = id.clone();
            view! {
                <label class="option" for=target>
                    <input
                        type="radio"
                        name=name
                        id=id
                        prop:checked=move || value.get() == option.value
                        on:change=move |_| set.run(option.value)
                    />
                    <span class="option-text">
                        <span class="option-name">{t(option.name)}</span>
                        {option
                            .hint
                            .map(|hint| view! { <span class="option-hint">{t(hint)}</span> })}
                    </span>
                </label>
            }
        })
        .collect_view();
    view! {
        <fieldset class=format!("choice {look}") data-key=key>
            <legend>{t(legend)}</legend>
            <div class="options">{items}</div>
        </fieldset>
    }
}

/// A select with its label.
#[component]
pub fn Pick<T>(
    /// Element id.
    id: &'static str,
    /// Its label.
    label: Text,
    /// The options.
    options: Vec<Item<T>>,
    /// The chosen value.
    value: Memo<T>,
    /// Called with the new choice.
    set: Callback<T>,
) -> impl IntoView
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let values: Vec<T> = options.iter().map(|option| option.value).collect();
    let items = options
        .into_iter()
        .enumerate()
        .map(|(at, option)| {
            let is_chosen = move || value.get() == option.value;
            view! {
                <option value=at.to_string() prop:selected=is_chosen>
                    {t(option.name).flat()}
                </option>
            }
        })
        .collect_view();
    let on_change = move |ev: web_sys::Event| {
        let at = event_target_value(&ev).parse::<usize>().ok();
        if let Some(value) = at.and_then(|at| values.get(at)) {
            set.run(*value);
        }
    };
    view! {
        <div class="pick">
            <label for=id>{t(label)}</label>
            <select id=id on:change=on_change>
                {items}
            </select>
        </div>
    }
}

/// A switch with its label.
#[component]
pub fn Switch(
    /// Element id.
    id: &'static str,
    /// Its label.
    label: Text,
    /// One line about it.
    hint: Memo<&'static str>,
    /// Its state.
    value: Memo<bool>,
    /// Called with the new state.
    set: Callback<bool>,
    /// Something else decides.
    #[prop(optional)]
    disabled: Option<Memo<bool>>,
) -> impl IntoView {
    view! {
        <label class="switch" for=id>
            <input
                type="checkbox"
                role="switch"
                id=id
                prop:checked=move || value.get()
                disabled=move || disabled.is_some_and(|it| it.get())
                on:change=move |ev| set.run(event_target_checked(&ev))
            />
            <span class="option-text">
                <span class="option-name">{t(label)}</span>
                <span class="option-hint">{rich(move || hint.get())}</span>
            </span>
        </label>
    }
}
