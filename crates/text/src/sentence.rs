//! One sentence about the picture, computed from its numbers.

use super::language::{GAP, QUOTE};
use super::{Counted, Text, isolated, number, texts};
use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::summary::{Lost, Summary};
use attnscope_scene::{Convention, Lang, Mechanism, Quantity, Scene};

texts!("sentence");

/// The input of the sentence.
#[derive(Clone, Copy, Debug)]
pub struct SentenceInput<'a> {
    /// The Scene that the summary was computed from.
    pub scene: &'a Scene,
    /// The head on screen: the chosen one, or the last head of the layer.
    pub head: u32,
    /// Numbers of that head.
    pub summary: &'a Summary,
    /// One label per token.
    pub tokens: &'a [String],
    /// Left and right of the resolved window (SPEC 2); `None` is unlimited.
    pub reach: (Option<i32>, Option<i32>),
    /// Output rank and the share of W_O's energy that it keeps, when a rank is set and σ is known.
    pub rank_energy: Option<(u32, f64)>,
}

/// Maximum number of short sentences.
const MOST: usize = 3;

/// The cell that a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Query.
    pub row: usize,
    /// Key.
    pub col: usize,
    /// How the cell relates to the sentence.
    pub how: How,
}

/// How a cell relates to the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The sentence is about this cell.
    Named,
    /// The sentence is about many rows; this one shows it most.
    Example,
    /// The sentence is about no cell: this one has the strongest weight.
    Strongest,
}

/// The text about a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The sentence.
    pub text: String,
    /// The cell that it is about; `None` only without a summary.
    pub cell: Option<Spoken>,
}

/// A short sentence, and the cell that it is about, if any.
struct Part {
    text: String,
    cell: Option<Spoken>,
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self { text, cell: None }
    }
}

impl Part {
    fn about(text: String, how: How, cell: Option<(usize, usize)>) -> Self {
        let cell = cell.map(|(row, col)| Spoken { row, col, how });
        Self { text, cell }
    }
}

/// The sentence about the picture.
pub fn sentence(lang: Lang, facts: &SentenceInput) -> String {
    said(lang, facts).text
}

/// The sentence (at most [`MOST`] short ones) about the picture, and the cell that it is about.
pub fn said(lang: Lang, facts: &SentenceInput) -> Said {
    let parts = parts(lang, facts);
    let named = parts.iter().find_map(|part| part.cell);
    let summary = facts.summary;
    let strongest = summary.strongest.map(|(row, col, _)| Spoken {
        row,
        col,
        how: How::Strongest,
    });
    // If every row is fully masked, there is no weight: the sentence is about such a row.
    let empty = (summary.empty_rows > 0).then_some(Spoken {
        row: 0,
        col: 0,
        how: How::Example,
    });
    let texts: Vec<_> = parts.into_iter().map(|part| part.text).collect();
    Said {
        text: texts.join(GAP.pick(lang)),
        cell: named.or(strongest).or(empty),
    }
}

fn parts(lang: Lang, facts: &SentenceInput) -> Vec<Part> {
    let SentenceInput { scene, summary, .. } = *facts;
    let mut parts: Vec<Part> = Vec::new();
    let cjar = scene.mechanism == Mechanism::Cjar;
    let windowed = scene.mechanism == Mechanism::Window || (cjar && scene.windowed);
    if cjar && scene.cjar.reading == Reading::Product {
        let text = NEGATIVE.fill(
            lang,
            &[
                ("share", &number::percent(lang, summary.negative)),
                ("lo", &number::fixed(lang, summary.row_sum.0, 2)),
                ("hi", &number::fixed(lang, summary.row_sum.1, 2)),
            ],
        );
        parts.push(text.into());
    } else if cjar && let Some(part) = bias(lang, facts) {
        parts.push(part);
    }
    if windowed || scene.causal {
        parts.push(window(lang, facts, windowed));
    } else if !cjar {
        // Without any visible key there is no pattern.
        parts.extend(habit(lang, facts));
    }
    if scene.padding > 0 {
        // All of them, if there are more than tokens.
        let n = (scene.padding as usize).min(facts.tokens.len());
        parts.push(PADDED.fill(lang, n, &[("n", &n.to_string())]).into());
    }
    if let Some((rank, energy)) = facts.rank_energy.filter(|_| cjar) {
        let text = RANK_KEEPS.fill(
            lang,
            &[
                ("r", &rank.to_string()),
                ("energy", &number::percent_fine(lang, energy)),
            ],
        );
        parts.push(text.into());
    }
    if scene.view.quantity == Quantity::Score {
        parts.insert(0, SCORE_VIEW.pick(lang).to_owned().into());
    }
    // Unexpected zeros are always mentioned, however much else there is to say.
    let empty = summary.empty_rows;
    parts.truncate(MOST - usize::from(empty > 0));
    if empty > 0 {
        let text = match scene.empty {
            FullyMasked::Zero => EMPTY,
            FullyMasked::Mean => EMPTY_MEAN,
        };
        parts.push(text.fill(lang, empty, &[("n", &empty.to_string())]).into());
    }
    parts
}

/// The text when the summary of a whole map would take too long.
pub fn too_long(lang: Lang, most: usize) -> String {
    TOO_LONG.fill(lang, &[("n", &number::count(lang, most as u64))])
}

/// A token in quotes, with its position if the same token occurs elsewhere too.
pub fn quoted(lang: Lang, tokens: &[String], at: usize) -> String {
    let Some(token) = tokens.get(at) else {
        return format!("#{at}");
    };
    let alone = tokens.iter().filter(|other| *other == token).count() == 1;
    let text = QUOTE.fill(lang, &[("x", &isolated(token))]);
    if alone {
        text
    } else {
        format!("{text} ({at})")
    }
}

fn habit(lang: Lang, facts: &SentenceInput) -> Option<Part> {
    let SentenceInput {
        summary, tokens, ..
    } = *facts;
    let head = facts.head.to_string();
    let often = |share: f64| if share >= 0.5 { MOSTLY } else { OFTEN }.pick(lang);
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
        let text = text.fill(
            lang,
            &[
                ("head", &head),
                ("often", often(share)),
                ("n", distance.pick(lang)),
                ("share", &number::percent(lang, share)),
            ],
        );
        let cell = summary
            .offset_row
            .and_then(|row| Some((row, row.checked_add_signed(at as isize)?)));
        return Some(Part::about(text, How::Example, cell));
    }
    if let Some((key, share)) = favourite {
        let text = RESTS.fill(
            lang,
            &[
                ("head", &head),
                ("often", often(share)),
                ("key", &quoted(lang, tokens, key)),
                ("share", &number::percent(lang, share)),
            ],
        );
        let cell = summary.favourite_row.map(|row| (row, key));
        return Some(Part::about(text, How::Example, cell));
    }
    let mut out = if let Some(bits) = summary.entropy {
        let n = bits.exp2();
        SPREADS.fill(
            lang,
            n.round() as usize,
            &[("head", &head), ("n", &number::fixed(lang, n, 0))],
        )
    } else {
        String::new()
    };
    if let Some((row, key, weight)) = summary.strongest {
        if !out.is_empty() {
            out.push_str(GAP.pick(lang));
        }
        out.push_str(&STRONGEST.fill(
            lang,
            &[
                ("a", &number::fixed(lang, weight, 2)),
                ("query", &quoted(lang, tokens, row)),
                ("key", &quoted(lang, tokens, key)),
            ],
        ));
    }
    let cell = summary.strongest.map(|(row, key, _)| (row, key));
    (!out.is_empty()).then(|| Part::about(out, How::Named, cell))
}

fn window(lang: Lang, facts: &SentenceInput, windowed: bool) -> Part {
    let SentenceInput {
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
            reach.map_or_else(|| "∞".to_owned(), |r| number::fixed(lang, f64::from(r), 0))
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
    let mut cell = None;
    out.push_str(&match &summary.lost {
        None if summary.visible_min < tokens.len() => KEPT.pick(lang).to_owned(),
        None => ALL_KEPT.pick(lang).to_owned(),
        Some(lost) if lost.share >= 0.01 => {
            cell = Some((lost.row, lost.key));
            loses(lang, tokens, lost)
        }
        Some(lost)
            if scene
                .view
                .cell
                .is_some_and(|(row, _)| row as usize == lost.row) =>
        {
            ROW_LOSES_NOTHING.fill(lang, &[("row", &quoted(lang, tokens, lost.row))])
        }
        Some(_) => LOSES_NOTHING.pick(lang).to_owned(),
    });
    Part::about(out, How::Named, cell)
}

fn loses(lang: Lang, tokens: &[String], lost: &Lost) -> String {
    let part = if lost.key_share > lost.share / 2.0 {
        MOST_OF_IT
    } else {
        MUCH
    };
    LOSES.fill(
        lang,
        &[
            ("row", &quoted(lang, tokens, lost.row)),
            ("share", &number::percent(lang, lost.share)),
            ("part", part.pick(lang)),
            ("key", &quoted(lang, tokens, lost.key)),
        ],
    )
}

/// The effect of P_K, s, the score rank and segments; `None` when none is set and the output rank
/// has its own sentence.
fn bias(lang: Lang, facts: &SentenceInput) -> Option<Part> {
    let SentenceInput { scene, summary, .. } = *facts;
    let cjar = &scene.cjar;
    let mut parts = Vec::new();
    let keys = cjar.p_k.amplitude != 0.0;
    // A shared P_K moves nothing (SPEC 5), so the text does not attribute a change to it.
    let each = keys && cjar.p_k.per_position;
    let curve = cjar.s.amplitude != 0.0 && cjar.reading.uses_score_bias();
    let what = match (each, curve) {
        (true, true) => Some(AND.fill(lang, &[("a", P_K.pick(lang)), ("b", "s")])),
        (true, false) => Some(P_K.pick(lang).to_owned()),
        (false, true) => Some("s".to_owned()),
        (false, false) => None,
    };
    let mut cell = None;
    if let Some(what) = what {
        parts.push(if summary.moved < 5e-7 {
            MOVED_NOTHING.fill(lang, &[("what", &what)])
        } else {
            let by = number::weight(lang, summary.moved);
            cell = summary.moved_at;
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
        parts.push(SEGMENTED.fill(lang, b as usize, &[("b", &b.to_string())]));
    }
    if parts.is_empty() && cjar.out_rank.is_none() {
        parts.push(NO_BIAS.pick(lang).to_owned());
    }
    parts.truncate(2);
    (!parts.is_empty()).then(|| Part::about(parts.join(GAP.pick(lang)), How::Named, cell))
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
