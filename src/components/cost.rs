//! Claimed, counted and measured, side by side, for the sizes on screen (SPEC 6).

use leptos::prelude::*;

use crate::components::rich_text::rich;
use crate::state::AppState;
use crate::state::debounce::Quiet;
use crate::state::derived::{self, Derived, t};
use attnscope_attention::cost::{self, CostSizes, Flops, PositionCost};
use attnscope_scene::{Lang, Mechanism, Scene};
use attnscope_text::language::COLON;
use attnscope_text::{Text, number, side as words};

/// Rank that the text's claim is counted with while no rank is set.
const TEXT_RANK: u64 = 64;

/// What is counted for one picture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    full: CostSizes,
    now: CostSizes,
    parameters_full: u64,
    parameters_now: u64,
}

fn count(scene: &Scene, sizes: derived::ShownSizes) -> Counted {
    let full = CostSizes::full(
        u64::from(sizes.seq_len),
        u64::from(sizes.model_dim()),
        u64::from(sizes.heads),
    );
    let cjar = scene.mechanism == Mechanism::Cjar;
    let rank = |rank: Option<u32>, most: u32| rank.filter(|&r| cjar && r < most).map(u64::from);
    let now = CostSizes {
        pairs: scene.visibility().pairs(sizes.seq_len as usize, None),
        out_rank: rank(scene.cjar.out_rank, sizes.model_dim()),
        score_rank: rank(scene.cjar.score_rank, sizes.head_dim),
        ..full
    };
    let biases = [&scene.cjar.p_k, &scene.cjar.p_v];
    let mut set = biases
        .iter()
        .filter(|bias| cjar && bias.amplitude != 0.0)
        .peekable();
    let position = if set.peek().is_none() {
        PositionCost::None
    } else if set.any(|bias| bias.per_position) {
        PositionCost::PerPosition
    } else {
        PositionCost::Shared
    };
    Counted {
        full,
        now,
        parameters_full: cost::parameters(&full, PositionCost::None, false),
        parameters_now: cost::parameters(&now, position, false),
    }
}

/// The cost panel.
#[component]
pub fn Cost() -> impl IntoView {
    let app = AppState::get();
    let Derived { lang, sizes, .. } = Derived::get();
    let counted = Memo::new(move |_| app.scene.with(|scene| count(scene, sizes.get())));
    let intro = move || {
        let s = sizes.get();
        words::COST_INTRO.fill(
            lang.get(),
            &[
                ("l", &s.seq_len.to_string()),
                ("d", &s.model_dim().to_string()),
                ("h", &s.heads.to_string()),
            ],
        )
    };
    let row = move |name: Text, class: &'static str, of: fn(&Counted) -> (f64, f64)| {
        let (full, now) = (move || of(&counted.get()).0, move || of(&counted.get()).1);
        view! {
            <tr class=class>
                <th scope="row">{t(name)}</th>
                <td>{move || number::engineering(lang.get(), full())}</td>
                <td>{move || number::engineering(lang.get(), now())}</td>
                <td class="ratio">{move || ratio(lang.get(), full(), now())}</td>
            </tr>
        }
    };
    let time = move || {
        app.report.with(|report| report.gpu_ms).map_or_else(
            || "–".to_owned(),
            |ms| format!("{} ms", number::fixed(lang.get(), ms, 2)),
        )
    };
    view! {
        <p class="hint">{rich(intro)}</p>
        <Quiet text=sentence(counted) />
        <table class="numbers cost">
            <thead>
                <tr>
                    <th scope="col">{t(words::COST_COUNTED)}</th>
                    <th scope="col">{t(words::COST_FULL)}</th>
                    <th scope="col">{t(words::COST_NOW)}</th>
                    <td></td>
                </tr>
            </thead>
            <tbody>
                {row(words::COST_QKV, "", |c| both(c, |f| f.projections))}
                {row(words::COST_SCORE, "", |c| both(c, |f| f.scores + f.values))}
                {row(words::COST_OUT, "", |c| both(c, |f| f.output))}
                {row(words::COST_SUM, "sum", |c| both(c, Flops::total))}
                {row(
                    words::COST_PARAMS,
                    "",
                    |c| (c.parameters_full as f64, c.parameters_now as f64),
                )}
                {row(
                    words::COST_MEMORY,
                    "",
                    |c| (cost::materialised(&c.full) as f64, cost::materialised(&c.now) as f64),
                )}
                {row(
                    words::COST_MEMORY_STREAMED,
                    "",
                    |c| (cost::streamed(&c.full) as f64, cost::streamed(&c.now) as f64),
                )}
            </tbody>
        </table>
        <p class="measured">
            <span>{t(words::COST_MEASURED)} {t(COLON)} {t(words::COST_TIME)}</span>
            <b>{time}</b>
        </p>
        <Claims counted=counted />
    }
}

/// What the CJAR text says, what can be counted for it, and what follows.
#[component]
fn Claims(
    /// Counts of the picture.
    counted: Memo<Counted>,
) -> impl IntoView {
    let lang = Derived::get().lang;
    let time = move || {
        let Counted { full, now, .. } = counted.get();
        let rank = now.out_rank.unwrap_or(TEXT_RANK.min(full.model_dim));
        let (all, cut) = (
            cost::flops(&full),
            cost::flops(&CostSizes {
                out_rank: Some(rank),
                ..full
            }),
        );
        let saved = all.total() - cut.total();
        let words = if saved < 0.0 {
            words::CLAIM_TIME_LOST
        } else {
            words::CLAIM_TIME_COUNTED
        };
        words.fill(
            lang.get(),
            &[
                ("r", &rank.to_string()),
                (
                    "saved",
                    &format!("{}FLOP", number::engineering(lang.get(), saved.abs())),
                ),
                (
                    "speed",
                    &number::fixed(lang.get(), all.total() / cut.total(), 3),
                ),
            ],
        )
    };
    let space = move || {
        let full = counted.get().full;
        let share = 1.0 - cost::streamed(&full) as f64 / cost::materialised(&full).max(1) as f64;
        words::CLAIM_SPACE_COUNTED.fill(
            lang.get(),
            &[("saved", &number::percent(lang.get(), share))],
        )
    };
    let claim = |name: Text, order: Text, figure: Text, verdict: Text| {
        view! {
            <dt>{t(name)} {t(COLON)} <span class="claim">{t(order)} " · " {t(figure)}</span></dt>
            <dd class="verdict-text">{t(verdict)}</dd>
        }
    };
    view! {
        <section class="claims">
            <h2>{t(words::CLAIMS)} <small>" — " {t(words::CLAIM_CONDITION)}</small></h2>
            <dl>
                {claim(
                    words::CLAIM_ROW_TIME,
                    words::CLAIM_TIME,
                    words::CLAIM_SPEED,
                    words::VERDICT_TIME,
                )}
                <dd>{t(words::COST_COUNTED)} {t(COLON)} {rich(time)}</dd>
                {claim(
                    words::CLAIM_ROW_SPACE,
                    words::CLAIM_SPACE,
                    words::CLAIM_MEMORY,
                    words::VERDICT_SPACE,
                )}
                <dd>{t(words::COST_COUNTED)} {t(COLON)} {rich(space)}</dd>
            </dl>
        </section>
    }
}

fn both(counted: &Counted, of: fn(&Flops) -> f64) -> (f64, f64) {
    (
        of(&cost::flops(&counted.full)),
        of(&cost::flops(&counted.now)),
    )
}

/// The change in percent; nothing where there is none.
fn ratio(lang: Lang, full: f64, now: f64) -> String {
    let Some(change) = change(full, now) else {
        return "=".to_owned();
    };
    let change = change * 100.0;
    let sign = if change > 0.0 { "+" } else { "" };
    let change = number::fixed(lang, change, 0);
    number::per_hundred(lang, &format!("{sign}{change}"))
}

/// The change as a share of `full`; `None` where there is none to speak of.
fn change(full: f64, now: f64) -> Option<f64> {
    (full > 0.0 && (now - full).abs() >= full * 5e-4).then(|| now / full - 1.0)
}

/// What the mask and the ranks do to the work, in words.
fn sentence(counted: Memo<Counted>) -> Memo<String> {
    let lang = Derived::get().lang;
    Memo::new(move |_| {
        let lang = lang.get();
        let (full, now) = both(&counted.get(), Flops::total);
        let change = change(full, now);
        let text = match change {
            None => words::COST_SENTENCE_SAME,
            Some(less) if less < 0.0 => words::COST_SENTENCE_LESS,
            Some(_) => words::COST_SENTENCE_MORE,
        };
        let [full, now] =
            [full, now].map(|flop| format!("{}FLOP", number::engineering(lang, flop)));
        let change = number::percent_fine(lang, change.unwrap_or(0.0).abs());
        text.fill(lang, &[("full", &full), ("now", &now), ("change", &change)])
    })
}
