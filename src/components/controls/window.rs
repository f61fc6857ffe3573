//! The mask: causal switch, window with its convention, sinks, globals, dilation, padding (SPEC 2).

use leptos::prelude::*;

use crate::components::controls::choice::{Item, Pick, Switch};
use crate::components::controls::slider::Slider;
use crate::components::rich_text::rich;
use crate::layout::slider::Track;
use crate::state::AppState;
use crate::state::derived::{Derived, part, t};
use crate::state::window_stats::Reach;
use attnscope_attention::config::FullyMasked;
use attnscope_scene::{Convention, Mechanism, Scene, Window};
use attnscope_text::{controls as words, number};

/// The whole mask.
#[component]
pub fn Mask() -> impl IntoView {
    let app = AppState::get();
    let cjar = part(app, |s| s.mechanism == Mechanism::Cjar);
    let window = part(app, Scene::window_acts);
    let by_convention = part(app, |s| {
        s.window_acts()
            && matches!(
                s.window.convention,
                Convention::CausalDistance | Convention::CausalCount
            )
    });
    let lang = Derived::get().lang;
    let causal_hint = Memo::new(move |_| {
        let text = if by_convention.get() {
            words::CAUSAL_BY_CONVENTION
        } else {
            words::CAUSAL_HINT
        };
        text.pick(lang.get())
    });
    let causal = part(app, |s| s.causal);
    view! {
        <section class="group">
            <Show when=move || cjar.get()>
                <Switch
                    id="windowed"
                    label=words::INSIDE_WINDOW
                    hint=Memo::new(move |_| words::WINDOW_HINT.pick(lang.get()))
                    value=window
                    set=Callback::new(move |to| app.change(|s| s.windowed = to))
                />
            </Show>
            <Show when=move || window.get()>
                <WindowSize />
            </Show>
            <Switch
                id="causal"
                label=words::CAUSAL
                hint=causal_hint
                value=Memo::new(move |_| causal.get() || by_convention.get())
                set=Callback::new(move |to| app.change(|s| s.causal = to))
                disabled=by_convention
            />
            <MoreMask window=window />
        </section>
    }
}

/// The window's size (or explicit reach) and what it leads to.
#[component]
fn WindowSize() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let reach = Memo::new(move |_| app.scene.with(|s| Reach::of(s, sizes.get().seq_len)));
    let consequence = Memo::new(move |_| {
        let (lang, reach) = (lang.get(), reach.get());
        let side = |n: Option<i32>| match n {
            Some(n) => number::fixed(lang, f64::from(n), 0),
            None => "∞".to_owned(),
        };
        words::REACH.fill(
            lang,
            reach.count.max as usize,
            &[
                ("left", &side(reach.left)),
                ("right", &side(reach.right)),
                ("keys", &reach.keys()),
                ("share", &number::percent(lang, reach.share)),
            ],
        )
    });
    let explicit = part(app, |s| s.window.convention == Convention::Explicit);
    let size = part(app, |s| f64::from(s.window.size));
    let track = Memo::new(move |_| Track {
        min: 0.0,
        max: f64::from(sizes.get().seq_len.max(2) - 1),
        step: 1.0,
    });
    let convention = |of| Item::named(of, words::convention(of).0);
    let who = part(app, |s| words::convention(s.window.convention).1);
    view! {
        <Show
            when=move || explicit.get()
            fallback=move || {
                view! {
                    <Slider
                        id="window-size"
                        key="w"
                        label=words::SIZE
                        value=size
                        track=track
                        default=Memo::new(|_| f64::from(Window::default().size))
                        set=Callback::new(move |to: f64| app.change(|s| s.window.size = to as u32))
                        consequence=consequence
                        role="q"
                    />
                }
            }
        >
            <div class="pair">
                <Side id="window-left" label=words::LEFT left=true />
                <Side id="window-right" label=words::RIGHT left=false />
            </div>
            <p class="consequence">{rich(move || consequence.get())}</p>
        </Show>
        <Pick
            id="convention"
            label=words::CONVENTION
            options=vec![
                convention(Convention::Distance),
                convention(Convention::CausalDistance),
                convention(Convention::CausalCount),
                convention(Convention::Longformer),
                convention(Convention::Explicit),
            ]
            value=part(app, |s| s.window.convention)
            set=Callback::new(move |to| {
                app.change(|s| {
                    // Explicit starts from what was on screen.
                    if to == Convention::Explicit {
                        let reach = Reach::of(s, sizes.get_untracked().seq_len);
                        (s.window.left, s.window.right) = (reach.left, reach.right);
                    }
                    s.window.convention = to;
                });
            })
        />
        <p class="aside">{rich(move || who.get().pick(lang.get()))}</p>
    }
}

/// One explicit reach: a number, or unlimited.
#[component]
fn Side(
    /// Element id of the number box.
    id: &'static str,
    /// "Left" or "Right".
    label: attnscope_text::Text,
    /// Which of the two.
    left: bool,
) -> impl IntoView {
    let app = AppState::get();
    let sizes = Derived::get().sizes;
    let value = part(
        app,
        move |s| if left { s.window.left } else { s.window.right },
    );
    let set = move |to: Option<i32>| {
        app.change(|s| {
            if left {
                s.window.left = to;
            } else {
                s.window.right = to;
            }
        });
    };
    let limit = move || sizes.get().seq_len as i32;
    let on_change = move |ev: web_sys::Event| {
        if let Ok(n) = event_target_value(&ev).trim().parse::<i32>() {
            let limit = sizes.get_untracked().seq_len as i32;
            set(Some(n.clamp(-limit, limit)));
        }
        let now = value
            .get_untracked()
            .map(|n| n.to_string())
            .unwrap_or_default();
        event_target::<web_sys::HtmlInputElement>(&ev).set_value(&now);
    };
    let unlimited = format!("{id}-unlimited");
    let target = unlimited.clone();
    view! {
        <div class="side-reach">
            <label for=id>{t(label)}</label>
            <input
                type="number"
                class="exact"
                id=id
                step="1"
                min=move || -limit()
                max=limit
                disabled=move || value.get().is_none()
                prop:value=move || value.get().map(|n| n.to_string()).unwrap_or_default()
                on:change=on_change
            />
            <label class="check" for=target>
                <input
                    type="checkbox"
                    id=unlimited
                    prop:checked=move || value.get().is_none()
                    on:change=move |ev| set(if event_target_checked(&ev) { None } else { Some(2) })
                />
                {t(words::UNLIMITED)}
            </label>
        </div>
    }
}

/// Sinks; folded: globals, dilation, padding, what an empty row gets.
#[component]
fn MoreMask(
    /// Whether the window takes part.
    window: Memo<bool>,
) -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let up_to = move |min: f64, most: u32| {
        Memo::new(move |_| Track {
            min,
            max: f64::from(most.min(sizes.get().seq_len)).max(min),
            step: 1.0,
        })
    };
    let say =
        move |text: attnscope_text::Text| Memo::new(move |_| text.pick(lang.get()).to_owned());
    let set_with = move |edit: fn(&mut Scene, u32)| {
        Callback::new(move |to: f64| app.change(|s| edit(s, to as u32)))
    };
    view! {
        <Show when=move || window.get()>
            <Slider
                id="sinks"
                key="sinks"
                label=words::SINKS
                value=part(app, |s| f64::from(s.window.sinks))
                track=up_to(0.0, 16)
                default=Memo::new(|_| 0.0)
                set=set_with(|s, to| s.window.sinks = to)
                consequence=say(words::SINKS_HINT)
                role="k"
            />
        </Show>
        <details>
            <summary>{t(words::MORE_MASK)}</summary>
            <Show when=move || window.get()>
                <Slider
                    id="globals"
                    key="globals"
                    label=words::GLOBALS
                    value=part(app, |s| f64::from(s.window.globals))
                    track=up_to(0.0, 16)
                    default=Memo::new(|_| 0.0)
                    set=set_with(|s, to| s.window.globals = to)
                    consequence=say(words::GLOBALS_HINT)
                    role="k"
                />
                <Slider
                    id="dilation"
                    key="dil"
                    label=words::DILATION
                    value=part(app, |s| f64::from(s.window.dilation))
                    track=up_to(1.0, 16)
                    default=Memo::new(|_| 1.0)
                    set=set_with(|s, to| s.window.dilation = to.max(1))
                    consequence=say(words::DILATION_HINT)
                    role="q"
                />
            </Show>
            <Slider
                id="padding"
                key="pad"
                label=words::PADDING
                value=part(app, |s| f64::from(s.padding))
                track=up_to(0.0, u32::MAX)
                default=Memo::new(|_| 0.0)
                set=set_with(|s, to| s.padding = to)
                consequence=say(words::PADDING_HINT)
                role="k"
            />
            <Switch
                id="empty-mean"
                label=words::EMPTY_MEAN
                hint=Memo::new(move |_| words::EMPTY_MEAN_HINT.pick(lang.get()))
                value=part(app, |s| s.empty == FullyMasked::Mean)
                set=Callback::new(move |to| app.change(|s| s.empty = if to { FullyMasked::Mean } else { FullyMasked::Zero }))
            />
            <p class="aside">{t(words::MASK_NOTE)}</p>
        </details>
    }
}
