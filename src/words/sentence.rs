//! One sentence about the picture, computed from its numbers.

use super::{number, texts};
use crate::attention::config::{Empty, Reading};
use crate::attention::summary::{Lost, Summary};
use crate::scene::{Convention, Lang, Mechanism, Quantity, Scene};

texts! {
    LOOKS_SELF: "Head {head} mostly looks at the token itself: {share} of the weight on average.", "第 {head} 头主要看自身：平均占权重的 {share}。";
    LOOKS_RIGHT: "Head {head} mostly looks {n} to the right: {share} of the weight on average.", "第 {head} 头主要看向右边{n}：平均占权重的 {share}。";
    LOOKS_LEFT: "Head {head} mostly looks {n} to the left: {share} of the weight on average.", "第 {head} 头主要看向左边{n}：平均占权重的 {share}。";
    ONE: "one token", "第一个词元";
    TWO: "two tokens", "第二个词元";
    THREE: "three tokens", "第三个词元";
    RESTS: "Head {head} mostly rests on {key}: {share} of the weight on average.", "第 {head} 头主要停在 {key} 上：平均占权重的 {share}。";
    SPREADS: "Head {head} spreads its weight: a row is as uncertain as {n} equal keys.", "第 {head} 头的权重很分散：一行的不确定性相当于 {n} 个均等的键。";
    STRONGEST: "The strongest single weight, {a}, goes from {query} to {key}.", "最大的单个权重 {a} 由 {query} 指向 {key}。";
    KEEPS: "With w = {w} each token keeps {keys} of {n} keys", "w = {w} 时每个词元保留 {n} 个键中的 {keys} 个";
    KEEPS_EXPLICIT: "With ({left}, {right}) each token keeps {keys} of {n} keys", "窗口 ({left}, {right}) 下每个词元保留 {n} 个键中的 {keys} 个";
    KEEPS_CAUSAL: "With the causal mask a token keeps {keys} of {n} keys", "使用因果掩码时每个词元保留 {n} 个键中的 {keys} 个";
    LOSES: "; row {row} loses {share} of its weight, {part} of it on {key}.", "；{row} 行失去 {share} 的权重，其中{part}原在 {key} 上。";
    MOST: "most", "大部分";
    MUCH: "the largest part", "最大一份";
    LOSES_NOTHING: "; hardly any weight is lost.", "；几乎没有损失权重。";
    ALL_KEPT: "; that is all of them, so this is full attention.", "；即全部，等同于全注意力。";
    EMPTY: "Rows that see no key and stay empty: {n}.", "有 {n} 行看不到任何键，为空行。";
    PADDED: "Padding, which no query sees: the last {n} tokens.", "末尾 {n} 个词元是填充，不被任何查询看到。";
    EMPTY_MEAN: "Rows that see no key and get the mean of all values: {n}.", "有 {n} 行看不到任何键，得到所有值的平均。";
    NEGATIVE: "{share} of the visible weights are negative, and rows sum to between {lo} and {hi} instead of 1.", "{share} 的可见权重为负，行和在 {lo} 与 {hi} 之间，而不是 1。";
    NO_BIAS: "No bias is set yet, so CJAR draws what softmax draws.", "尚未设置偏置，CJAR 与普通 softmax 的图相同。";
    SHARED_STILL: "P_K is shared by all positions and moves no weight at all: q·P_K is the same for every key of a row.", "P_K 为所有位置共享，不改变任何权重：同一行里 q·P_K 对每个键都相同。";
    MOVED: "Weights move by at most {by} because of {what}.", "{what} 使权重至多变动 {by}。";
    MOVED_NOTHING: "No weight here moves because of {what}.", "{what} 在此处不改变任何权重。";
    AND: "{a} and {b}", "{a} 与 {b}";
    SEGMENTED: "Each row is normalised in segments of {b} keys.", "每行按 {b} 个键一段分别归一化。";
    RANK_KEEPS: "Rank {r} keeps {energy} of W_O's energy; W_O comes after the map and leaves it alone.", "秩 {r} 保留 W_O 能量的 {energy}；W_O 在注意力图之后，不影响该图。";
    SCORE_RANK: "The score of each head is cut to rank {rho}; the map is made from what is left.", "每个头的分数截断到秩 {rho}；图由截断后的分数得到。";
    S_IDLE: "s takes no part in this reading.", "在这种读法中 s 不参与计算。";
    TOO_LONG: "At more than {n} tokens the facts of a whole map are not computed; point at a cell for its numbers.", "超过 {n} 个词元时不计算整幅图的统计；请指向格子查看其数值。";
    SCORE_VIEW: "Raw scores, before any softmax: blue is negative, red is positive.", "softmax 之前的原始分数：蓝色为负，红色为正。";
}

/// What the sentence is made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The Scene that the summary was computed from.
    pub scene: &'a Scene,
    /// The head that is drawn: the chosen one, or the last that the layer has.
    pub head: u32,
    /// Numbers of that head.
    pub summary: &'a Summary,
    /// One label per token.
    pub tokens: &'a [String],
    /// Reach of the window as resolved (SPEC 2); `None` is unlimited.
    pub reach: (Option<i32>, Option<i32>),
    /// Output rank and the share of W_O's energy that it keeps, when a rank is set and σ is known.
    pub rank_energy: Option<(u32, f64)>,
}

/// The sentence (at most three short ones) about the picture.
pub fn sentence(lang: Lang, facts: &Facts) -> String {
    let Facts { scene, summary, .. } = *facts;
    let mut parts = Vec::new();
    let cjar = scene.mechanism == Mechanism::Cjar;
    let windowed = scene.mechanism == Mechanism::Window || (cjar && scene.windowed);
    if cjar && scene.cjar.reading == Reading::Product {
        parts.push(NEGATIVE.fill(
            lang,
            &[
                ("share", &number::percent(summary.negative)),
                ("lo", &number::fixed(summary.row_sum.0, 2)),
                ("hi", &number::fixed(summary.row_sum.1, 2)),
            ],
        ));
    } else if cjar && let Some(text) = bias(lang, facts) {
        parts.push(text);
    }
    if windowed || scene.causal {
        parts.push(window(lang, facts, windowed));
    } else if !cjar {
        parts.push(habit(lang, facts));
    }
    if scene.padding > 0 {
        // All of them, if there are more than tokens.
        let n = (scene.padding as usize).min(facts.tokens.len()).to_string();
        parts.push(PADDED.fill(lang, &[("n", &n)]));
    }
    let empty = [("n", &*summary.empty_rows.to_string())];
    let mean = summary.empty_rows > 0 && scene.empty == Empty::Mean;
    if mean {
        parts.push(EMPTY_MEAN.fill(lang, &empty));
    }
    if let Some((rank, energy)) = facts.rank_energy.filter(|_| cjar) {
        parts.push(RANK_KEEPS.fill(
            lang,
            &[
                ("r", &rank.to_string()),
                ("energy", &number::percent_fine(energy)),
            ],
        ));
    }
    if summary.empty_rows > 0 && !mean {
        parts.push(EMPTY.fill(lang, &empty));
    }
    if scene.view.quantity == Quantity::Score {
        parts.insert(0, SCORE_VIEW.pick(lang).to_owned());
    }
    parts.truncate(3);
    join(lang, &parts)
}

/// What is said where the facts of a whole map would take too long.
pub fn too_long(lang: Lang, most: usize) -> String {
    TOO_LONG.fill(lang, &[("n", &number::count(most as u64))])
}

/// A token in quotes, with its position where the same token stands elsewhere too.
pub fn quoted(tokens: &[String], at: usize) -> String {
    let Some(token) = tokens.get(at) else {
        return format!("#{at}");
    };
    let alone = tokens.iter().filter(|other| *other == token).count() == 1;
    if alone {
        format!("“{token}”")
    } else {
        format!("“{token}” ({at})")
    }
}

fn habit(lang: Lang, facts: &Facts) -> String {
    let Facts {
        summary, tokens, ..
    } = *facts;
    let head = facts.head.to_string();
    let offset = summary.offset.filter(|(_, share)| *share >= 0.2);
    let favourite = summary.favourite.filter(|(_, share)| *share >= 0.2);
    let by_offset = match (offset, favourite) {
        (Some((_, a)), Some((_, b))) => a >= b,
        (Some(_), None) => true,
        _ => false,
    };
    if let (true, Some((at, share))) = (by_offset, offset) {
        let text = match at {
            0 => LOOKS_SELF,
            1.. => LOOKS_RIGHT,
            _ => LOOKS_LEFT,
        };
        let distance = match at.unsigned_abs() {
            0 | 1 => ONE,
            2 => TWO,
            _ => THREE,
        };
        return text.fill(
            lang,
            &[
                ("head", &head),
                ("n", distance.pick(lang)),
                ("share", &number::percent(share)),
            ],
        );
    }
    let mut out = if let Some((key, share)) = favourite {
        RESTS.fill(
            lang,
            &[
                ("head", &head),
                ("key", &quoted(tokens, key)),
                ("share", &number::percent(share)),
            ],
        )
    } else if let Some(bits) = summary.entropy {
        SPREADS.fill(
            lang,
            &[("head", &head), ("n", &number::fixed(bits.exp2(), 0))],
        )
    } else {
        String::new()
    };
    if favourite.is_none()
        && let Some((row, key, weight)) = summary.strongest
    {
        if lang == Lang::En && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&STRONGEST.fill(
            lang,
            &[
                ("a", &number::fixed(weight, 2)),
                ("query", &quoted(tokens, row)),
                ("key", &quoted(tokens, key)),
            ],
        ));
    }
    out
}

fn window(lang: Lang, facts: &Facts, windowed: bool) -> String {
    let Facts {
        scene,
        summary,
        tokens,
        ..
    } = *facts;
    let keys = range(summary.visible_min, summary.visible_max);
    let n = tokens.len().to_string();
    let (left, right) = facts.reach;
    let mut out = if !windowed {
        KEEPS_CAUSAL.fill(lang, &[("keys", &keys), ("n", &n)])
    } else if scene.window.convention == Convention::Explicit {
        let side = |reach: Option<i32>| {
            reach.map_or_else(|| "∞".to_owned(), |r| number::fixed(f64::from(r), 0))
        };
        let values = [
            ("left", &*side(left)),
            ("right", &side(right)),
            ("keys", &keys),
            ("n", &n),
        ];
        KEEPS_EXPLICIT.fill(lang, &values)
    } else {
        let w = scene.window.size.to_string();
        KEEPS.fill(lang, &[("w", &w), ("keys", &keys), ("n", &n)])
    };
    out.push_str(&match &summary.lost {
        None => ALL_KEPT.pick(lang).to_owned(),
        Some(lost) if lost.share < 0.01 => LOSES_NOTHING.pick(lang).to_owned(),
        Some(lost) => loses(lang, tokens, lost),
    });
    out
}

fn loses(lang: Lang, tokens: &[String], lost: &Lost) -> String {
    let part = if lost.key_share > lost.share / 2.0 {
        MOST
    } else {
        MUCH
    };
    LOSES.fill(
        lang,
        &[
            ("row", &quoted(tokens, lost.row)),
            ("share", &number::percent(lost.share)),
            ("part", part.pick(lang)),
            ("key", &quoted(tokens, lost.key)),
        ],
    )
}

/// What P_K, s, the score rank and segments do; nothing when none is set and the output rank has
/// its own sentence.
fn bias(lang: Lang, facts: &Facts) -> Option<String> {
    let Facts { scene, summary, .. } = *facts;
    let cjar = &scene.cjar;
    let mut parts = Vec::new();
    let keys = cjar.p_k.amplitude != 0.0;
    // A shared P_K moves nothing (SPEC 5), so what moves is not said to come from it.
    let each = keys && cjar.p_k.per_position;
    let curve = cjar.s.amplitude != 0.0 && cjar.reading.uses_score_bias();
    let what = match (each, curve) {
        (true, true) => Some(AND.fill(lang, &[("a", "P_K"), ("b", "s")])),
        (true, false) => Some("P_K".to_owned()),
        (false, true) => Some("s".to_owned()),
        (false, false) => None,
    };
    if let Some(what) = what {
        parts.push(if summary.moved < 5e-7 {
            MOVED_NOTHING.fill(lang, &[("what", &what)])
        } else {
            let by = number::weight(summary.moved);
            MOVED.fill(lang, &[("what", &what), ("by", &by)])
        });
    } else if keys {
        parts.push(SHARED_STILL.pick(lang).to_owned());
    }
    if cjar.s.amplitude != 0.0 && !curve {
        parts.push(S_IDLE.pick(lang).to_owned());
    }
    if let Some(rho) = cjar.score_rank {
        parts.push(SCORE_RANK.fill(lang, &[("rho", &rho.to_string())]));
    }
    if let Some(b) = cjar.segment {
        parts.push(SEGMENTED.fill(lang, &[("b", &b.to_string())]));
    }
    if parts.is_empty() && cjar.out_rank.is_none() {
        parts.push(NO_BIAS.pick(lang).to_owned());
    }
    parts.truncate(2);
    (!parts.is_empty()).then(|| join(lang, &parts))
}

fn join(lang: Lang, parts: &[String]) -> String {
    parts.join(match lang {
        Lang::En => " ",
        Lang::Zh => "",
    })
}

fn range(min: usize, max: usize) -> String {
    if min == max {
        max.to_string()
    } else {
        format!("{min}–{max}")
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
