//! One cell taken apart: where its number comes from, and whether the picture agrees.

use leptos::prelude::*;

use crate::components::rich_text::{markup, rich};
use crate::components::sentence::is_late;
use crate::scheduler;
use crate::state::derived::{Derived, part, t};
use crate::state::{AppState, CellNumbers};
use attnscope_attention::config::Reading;
use attnscope_scene::{Mechanism, Quantity};
use attnscope_text::sentence::How;
use attnscope_text::{Text, number, side as words};

/// The worked numbers of the hovered or locked cell, or of the one that the sentence is about.
#[component]
pub fn Inspector() -> impl IntoView {
    let app = AppState::get();
    let derived = Derived::get();
    let locked = part(app, |s| s.view.cell);
    let has_cell = Memo::new(move |_| derived.explained.get().is_some());
    // Says why this cell is explained, unless it is under the pointer.
    let why = move || match derived.cell.get() {
        Some(cell) => (locked.get() == Some(cell)).then_some(words::CELL_LOCKED),
        None => app.spoken.get().map(|spoken| match spoken.how {
            How::Named => words::CELL_NAMED,
            How::Example => words::CELL_EXAMPLE,
            How::Strongest => words::CELL_STRONGEST,
        }),
    };
    let late = is_late(app);
    let is_late = move || derived.cell.get().is_none() && late.get();
    let token = move |query: bool| {
        let at = derived.explained.get();
        let at = at.map(|(i, j)| if query { i } else { j });
        at.map(|at| (at, derived.token(at)))
    };
    let name = move |label: Text, query: bool| {
        let number = move || token(query).map(|(at, _)| at.to_string());
        let word = move || token(query).map(|(_, word)| word);
        let class = if query {
            "token token-q"
        } else {
            "token token-k"
        };
        view! {
            <div class=class>
                <span class="token-role">{t(label)} " = " {number}</span>
                <bdi class="token-word">{word}</bdi>
            </div>
        }
    };
    view! {
        <Show
            when=move || has_cell.get()
            fallback=move || view! { <p class="hint">{t(words::CELL_HINT)}</p> }
        >
            <div class="cell" class:is-late=is_late>
                <div class="tokens">
                    {name(words::QUERY, true)} <span class="arrow" aria-hidden="true">"→"</span>
                    {name(words::KEY, false)}
                </div>
                <p class="lock">{rich(move || why().map_or("", |text| text.pick(derived.lang.get())))}</p>
                {move || app.cell.get().map(|numbers| view! { <Numbers numbers=numbers /> })}
                <p class="hint">{t(words::CELL_HINT)}</p>
            </div>
        </Show>
    }
}

/// The table of one cell's numbers.
#[component]
fn Numbers(
    /// In f64, from the same q, k, P, s as the picture.
    numbers: CellNumbers,
) -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let (cjar, reading, cut) = app.scene.with_untracked(|s| {
        (
            s.mechanism == Mechanism::Cjar,
            s.cjar.reading,
            s.cjar.score_rank.is_some(),
        )
    });
    let uses_s = cjar && reading.uses_score_bias();
    // A = softmax(s) · r, so r tells the factor unless it is 0: then a dash keeps its place.
    let known = numbers.visible && numbers.score != 0.0;
    let share = if known {
        numbers.weight / numbers.score
    } else {
        f64::NAN
    };
    let product = cjar && reading == Reading::Product;
    let row = |label: Text, class: &'static str, value: f64| {
        view! {
            <tr class=class>
                <th scope="row">{t(label)}</th>
                <td>{move || number::weight(lang.get(), value)}</td>
            </tr>
        }
    };
    let expected = match numbers.quantity {
        Quantity::Weights => numbers.weight,
        Quantity::Score => numbers.score,
    };
    let verdict = move || {
        numbers.drawn.map(|drawn| {
            let drawn = f64::from(drawn);
            let off = (drawn - expected).abs();
            // SPEC 7, with the cell itself as the largest value; NaN is never equal.
            let equal = off <= 1e-5 + 1e-4 * expected.abs().max(1.0);
            let text = if equal {
                words::DRAWN_EQUAL.pick(lang.get()).to_owned()
            } else {
                words::DRAWN_DIFFERENT.fill(lang.get(), &[("by", &number::weight(lang.get(), off))])
            };
            let class = if equal {
                "verdict is-equal"
            } else {
                "verdict is-different"
            };
            (number::weight(lang.get(), drawn), class, text)
        })
    };
    view! {
        <table class="numbers">
            <tbody>
                {row(words::TERM_QK, "role-q", numbers.qk)}
                {cjar.then(|| row(words::TERM_QP, "role-p", numbers.qp))}
                {(cjar && cut).then(|| {
                    row(words::TERM_CUT, "role-q", numbers.score - numbers.qk - numbers.qp)
                })}
                {row(words::TERM_R, "sum", numbers.score)}
                {uses_s.then(|| row(words::TERM_S, "role-s", numbers.s))}
                {(uses_s && reading == Reading::Bias)
                    .then(|| row(words::TERM_Z, "sum", numbers.score + numbers.s))}
                {product.then(|| row(words::TERM_SHARE, "sum", share))}
                {row(words::TERM_A, "role-a result", numbers.weight)}
                {row(words::ROW_SUM, "minor", numbers.row_sum)}
                <tr class="minor">
                    <th scope="row">{t(words::ROW_KEYS)}</th>
                    <td>{numbers.visible_keys}</td>
                </tr>
            </tbody>
        </table>
        <div class="drawn">
            <span>{t(words::DRAWN)}</span>
            {move || match verdict() {
                Some((value, class, text)) => {
                    view! {
                        <span class="drawn-value">{value}</span>
                        <span class=class title=t(words::DRAWN_EQUAL_HINT)>{markup(&text)}</span>
                    }
                        .into_any()
                }
                None => {
                    view! {
                        <button type="button" class="quiet" on:click=move |_| scheduler::read_back_cell()>
                            {t(words::READ_BACK)}
                        </button>
                    }
                        .into_any()
                }
            }}
        </div>
        // Last, so that the numbers keep their places from cell to cell.
        <Show when=move || !numbers.visible>
            <p class="hint">
                {t(if numbers.weight == 0.0 { words::MASKED } else { words::MASKED_MEAN })}
            </p>
        </Show>
    }
}
