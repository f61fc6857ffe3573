//! The layer output and the cost of cutting W_O to rank r.

use leptos::html;
use std::fmt::Write;

use leptos::prelude::*;

use crate::components::controls::rank::{OutputRank, energy_kept};
use crate::components::rich_text::rich;
use crate::scheduler::{self, CanvasSlot};
use crate::state::AppState;
use crate::state::debounce::{Quiet, paced};
use crate::state::derived::{Derived, part, t};
use attnscope_attention::low_rank;
use attnscope_scene::Mechanism;
use attnscope_text::{number, side as words};

/// Most bars of the spectrum: with more σ, neighbours share a bar.
const BARS: usize = 96;

/// Output canvas, rank, spectrum, errors.
#[component]
pub fn Output() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let canvas = NodeRef::<html::Canvas>::new();
    Effect::new(move || {
        if let Some(canvas) = canvas.get() {
            scheduler::attach(CanvasSlot::Output, canvas);
        }
    });
    on_cleanup(|| scheduler::detach(CanvasSlot::Output));
    let cjar = part(app, |s| s.mechanism == Mechanism::Cjar);
    let asked = part(app, |s| s.cjar.out_rank);
    let rank = Memo::new(move |_| {
        let d = sizes.get().model_dim().max(1);
        if cjar.get() {
            asked.get().unwrap_or(d).clamp(1, d)
        } else {
            d
        }
    });
    let told = paced(rank);
    let alt = rich(move || {
        let (n, d) = (
            sizes.get().seq_len.to_string(),
            sizes.get().model_dim().to_string(),
        );
        words::OUT_ALT.fill(lang.get(), &[("n", &n), ("d", &d)])
    });
    view! {
        <p class="hint">{t(words::OUT_INTRO)}</p>
        <Quiet text=sentence(app, rank) />
        <figure class="output">
            <span class="output-name">
                {rich(move || words::OUT_LOW.fill(lang.get(), &[("r", &told.get().to_string())]))}
            </span>
            // The canvas may be replaced by another, so its description is on the element around
            // it.
            <div role="img" aria-label=alt>
                <canvas node_ref=canvas class="output-canvas" aria-hidden="true"></canvas>
            </div>
            <span class="output-name">{t(words::OUT_FULL)}</span>
        </figure>
        <Show
            when=move || cjar.get()
            fallback=move || {
                view! {
                    <p class="hint">
                        {t(words::RANK_ONLY_CJAR)} " "
                        <button
                            type="button"
                            class="quiet"
                            on:click=move |_| app.change(|s| s.mechanism = Mechanism::Cjar)
                        >
                            {t(words::RANK_SWITCH)}
                        </button>
                    </p>
                }
            }
        >
            // On the page the slider is among the controls; in an embed it is here.
            <Show when=move || app.embedded>
                <OutputRank />
            </Show>
        </Show>
        <Spectrum rank=rank told=told />
        <Errors rank=told />
    }
}

/// σ of W_O as bars; the kept ones have the role colour.
#[component]
fn Spectrum(
    /// r.
    rank: Memo<u32>,
    /// r as the texts give it, debounced.
    told: Memo<u32>,
) -> impl IntoView {
    let app = AppState::get();
    let lang = Derived::get().lang;
    let bars = Memo::new(move |_| app.sigma.with(|sigma| heights(sigma)));
    let count = move || app.sigma.with(|sigma| sigma.len());
    let alt = move || {
        app.sigma.with(|sigma| {
            let end =
                |s: Option<&f32>| number::fixed(lang.get(), s.map_or(0.0, |&s| f64::from(s)), 2);
            words::SPECTRUM_ALT.fill(
                lang.get(),
                &[
                    ("d", &sigma.len().to_string()),
                    ("hi", &end(sigma.first())),
                    ("lo", &end(sigma.last())),
                    ("r", &told.get().to_string()),
                ],
            )
        })
    };
    let outline = move || {
        let bars = bars.get();
        let width = 240.0 / bars.len().max(1) as f64;
        let mut path = String::new();
        for (at, height) in bars.into_iter().enumerate() {
            let (left, breadth) = (at as f64 * width, width * 0.8);
            let height = (height * 64.0).max(0.5);
            // Writing to a String cannot fail.
            let _ = write!(path, "M{left:.2} 64v-{height:.2}h{breadth:.2}V64z");
        }
        path
    };
    // The bars stay while the rank is dragged: a veil over the dropped ones moves instead, which
    // the browser does without painting.
    let veil = move || {
        let kept = f64::from(rank.get()) / count().max(1) as f64;
        format!("scaleX({:.4})", (1.0 - kept).clamp(0.0, 1.0))
    };
    view! {
        <figure class="spectrum">
            <figcaption>{t(words::SPECTRUM)}</figcaption>
            <Show
                when=move || count() != 0
                fallback=move || view! { <p class="hint spectrum-wait">{t(words::SPECTRUM_WAIT)}</p> }
            >
                <div class="spectrum-plot">
                    <svg viewBox="0 0 240 64" preserveAspectRatio="none" role="img" aria-label=rich(alt)>
                        <path d=outline />
                    </svg>
                    <div class="spectrum-veil" style:transform=veil></div>
                </div>
            </Show>
        </figure>
    }
}

/// σ as heights between 0 and 1, at most [`BARS`] of them.
fn heights(sigma: &[f32]) -> Vec<f64> {
    let highest = sigma.first().copied().unwrap_or(0.0).max(f32::MIN_POSITIVE);
    let group = sigma.len().div_ceil(BARS).max(1);
    sigma
        .chunks(group)
        .map(|chunk| f64::from(chunk.iter().sum::<f32>()) / chunk.len() as f64 / f64::from(highest))
        .collect()
}

/// Energy, errors, parameters.
#[component]
fn Errors(
    /// r.
    rank: Memo<u32>,
) -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let dash = || "–".to_owned();
    let energy =
        move || kept(app, rank).map_or_else(dash, |share| number::percent_fine(lang.get(), share));
    let error_w = move || {
        app.sigma.with(|sigma| {
            if sigma.is_empty() {
                return dash();
            }
            number::percent_fine(
                lang.get(),
                low_rank::weight_error(sigma, rank.get() as usize),
            )
        })
    };
    let error_y = move || {
        error_y(app, rank).map_or_else(dash, |error| number::percent_fine(lang.get(), error))
    };
    let params = move || {
        let [now, full] = parameters(sizes.get().model_dim(), rank.get());
        let count = |n| number::count(lang.get(), n);
        format!("{} / {}", count(now), count(full))
    };
    let half = move || {
        let half = (sizes.get().model_dim() / 2).to_string();
        words::PARAMS_BREAK.fill(lang.get(), &[("r", &half)])
    };
    view! {
        <table class="numbers">
            <tbody>
                <tr>
                    <th scope="row">{t(words::ENERGY)}</th>
                    <td>{energy}</td>
                </tr>
                <tr>
                    <th scope="row">{t(words::ERROR_W)}</th>
                    <td>{error_w}</td>
                </tr>
                <tr class="result">
                    <th scope="row">{t(words::ERROR_Y)}</th>
                    <td>{error_y}</td>
                </tr>
                <tr>
                    <th scope="row">{t(words::PARAMS)}</th>
                    <td>{params}</td>
                </tr>
            </tbody>
        </table>
        <p class="aside">{rich(half)}</p>
    }
}

/// Share of W_O's energy that is kept; `None` until σ is known.
fn kept(app: AppState, rank: Memo<u32>) -> Option<f64> {
    let rank = rank.get() as usize;
    app.sigma.with(|sigma| energy_kept(sigma, rank))
}

/// Relative error of Y; `None` until its energies are known.
fn error_y(app: AppState, rank: Memo<u32>) -> Option<f64> {
    let rank = rank.get() as usize;
    app.report.with(|report| {
        app.sigma.with(|sigma| {
            let energies = &report.component_energy;
            let known = !sigma.is_empty() && sigma.len() == energies.len();
            let total = f64::from(report.output_energy);
            known.then(|| low_rank::output_error(sigma, energies, total, rank))
        })
    })
}

/// Parameters of W_O at rank `r` of `d`, and at full rank.
fn parameters(d: u32, r: u32) -> [u64; 2] {
    let (d, r) = (u64::from(d), u64::from(r));
    let full = d * d;
    [if r >= d { full } else { 2 * d * r }, full]
}

/// The effect of the rank, in words; empty until it is known.
fn sentence(app: AppState, rank: Memo<u32>) -> Memo<String> {
    let Derived { lang, sizes, .. } = Derived::get();
    Memo::new(move |_| {
        let (lang, d, r) = (lang.get(), sizes.get().model_dim(), rank.get());
        if r >= d {
            return words::OUT_SENTENCE_FULL.pick(lang).to_owned();
        }
        let (Some(energy), Some(error)) = (kept(app, rank), error_y(app, rank)) else {
            return String::new();
        };
        let [now, full] = parameters(d, r).map(|n| number::count(lang, n));
        let [energy, error] = [energy, error].map(|share| number::percent_fine(lang, share));
        words::OUT_SENTENCE.fill(
            lang,
            &[
                ("r", &r.to_string()),
                ("d", &d.to_string()),
                ("error", &error),
                ("energy", &energy),
                ("now", &now),
                ("full", &full),
            ],
        )
    })
}
