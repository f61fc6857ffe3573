//! The line on top: brand, source, starter scenes, language, theme, share, self-check.

use leptos::html;
use leptos::prelude::*;

use crate::components::lesson::Menu;
use crate::components::rich_text::rich;
use crate::components::share::Share;
use crate::components::source::SourcePick;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use attnscope_scene::link_words::Word as _;
use attnscope_scene::{Lang, Theme};
use attnscope_text::{language as about, page as words};

/// The header of the full page.
#[component]
pub fn Header() -> impl IntoView {
    view! {
        <header class="top">
            <h1 class="brand">
                <Mark />
                "attnscope"
            </h1>
            <div class="top-source">
                <SourcePick />
            </div>
            <div class="top-menus">
                <Menu />
                <Share />
                <LanguageSwitch />
                <ThemeSwitch />
                <SelfCheck />
            </div>
        </header>
    }
}

/// The mark: a small banded map.
#[component]
fn Mark() -> impl IntoView {
    let cells = (0..4).flat_map(|i| {
        (0..4).filter_map(move |j: i32| {
            let near: i32 = (i - j).abs();
            (near < 2).then_some((i * 5, j * 5, near))
        })
    });
    view! {
        <svg class="brand-mark" viewBox="0 0 19 19" width="20" height="20" aria-hidden="true">
            {cells
                .map(|(y, x, near)| {
                    let class = if near == 0 { "brand-strong" } else { "brand-faint" };
                    view! { <rect class=class x=x y=y width="4" height="4" rx="1" /> }
                })
                .collect_view()}
        </svg>
    }
}

/// The language: a button to the other one, or a choice where there are more.
#[component]
pub fn LanguageSwitch() -> impl IntoView {
    if Lang::WORDS.len() > 2 {
        view! { <LanguageChoice /> }.into_any()
    } else {
        view! { <LanguageToggle /> }.into_any()
    }
}

#[component]
fn LanguageToggle() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let other = move || {
        let now = lang.get();
        let all = Lang::WORDS.iter().map(|&(other, _)| other);
        all.rev().find(|other| *other != now).unwrap_or(now)
    };
    // In the other language's own words: they are for whoever reads that one.
    let name = rich(move || about::SWITCH.pick(other()));
    view! {
        <button
            type="button"
            class="icon wide"
            id="language"
            lang=move || about::TAG.pick(other())
            title=name.clone()
            aria-label=name
            on:click=move |_| app.change(|s| s.lang = Some(untrack(other)))
        >
            {move || about::SHORT.pick(other())}
        </button>
    }
}

#[component]
fn LanguageChoice() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let option = |&(of, word): &(Lang, &'static str)| {
        view! {
            <option value=word lang=about::TAG.pick(of) prop:selected=move || lang.get() == of>
                {about::NAME.pick(of)}
            </option>
        }
    };
    view! {
        <select
            id="language"
            title=t(words::LANGUAGE)
            aria-label=t(words::LANGUAGE)
            on:change=move |ev| {
                let to = Lang::from_word(&event_target_value(&ev));
                app.change(|s| s.lang = to);
            }
        >
            {Lang::WORDS.iter().map(option).collect_view()}
        </select>
    }
}

/// "?": the page that computes what must hold, on this device and now. A module and a device of its
/// own, loaded when the dialog is opened and gone when it is closed.
#[component]
fn SelfCheck() -> impl IntoView {
    let Derived { lang, theme, .. } = Derived::get();
    let dialog = NodeRef::<html::Dialog>::new();
    let open = RwSignal::new(false);
    let show = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            // Refused only where it is shown already.
            let _ = dialog.show_modal();
            open.set(true);
        }
    };
    let address = move || {
        let theme = match theme.get() {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        format!(
            "./check.html?lang={}&theme={theme}",
            about::TAG.pick(lang.get())
        )
    };
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <button
            type="button"
            class="icon"
            id="self-check"
            title=t(words::SELF_CHECK)
            aria-label=t(words::SELF_CHECK)
            on:click=show
        >
            "?"
        </button>
        <dialog
            node_ref=dialog
            class="self-check"
            aria-label=t(words::SELF_CHECK)
            on:close=move |_| open.set(false)
        >
            <div class="self-check-top">
                <button type="button" class="quiet" on:click=close>
                    {t(words::CLOSE)}
                </button>
            </div>
            <Show when=move || open.get()>
                <iframe src=address title=t(words::SELF_CHECK)></iframe>
            </Show>
        </dialog>
    }
}

/// System, light, dark, in turn.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let theme = part(app, |s| s.theme);
    let name = rich(move || {
        match theme.get() {
            None => words::THEME_SYSTEM,
            Some(Theme::Light) => words::THEME_LIGHT,
            Some(Theme::Dark) => words::THEME_DARK,
        }
        .pick(lang.get())
    });
    let sign = move || match theme.get() {
        None => "◐",
        Some(Theme::Light) => "○",
        Some(Theme::Dark) => "●",
    };
    let next = move || match theme.get_untracked() {
        None => Some(Theme::Light),
        Some(Theme::Light) => Some(Theme::Dark),
        Some(Theme::Dark) => None,
    };
    view! {
        <button
            type="button"
            class="icon"
            id="theme"
            title=name.clone()
            aria-label=name
            on:click=move |_| app.change(|s| s.theme = next())
        >
            {sign}
        </button>
    }
}
