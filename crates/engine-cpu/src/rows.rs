//! Scores and weights of one head (SPEC 1–3), four rows at a time: the normalisers of a row are
//! computed with it and not stored.

use std::ops::Range;

use attnscope_attention::config::{FullyMasked, Reading};
use attnscope_attention::layer::{PositionBias, ScoreBias};
use attnscope_engine::Frame;
use attnscope_engine::centring::common_row;
use attnscope_engine::sizes::keys_per_row;
use attnscope_scene::Quantity;

use crate::lanes::{self, LANES, LOWEST};
use crate::tile::{Matrix, Panels, tile_into};

/// Cost of an exponential and the work around it, in multiply-adds.
const EXP_COST: usize = 16;

/// Rows that are computed together.
pub const GROUP: usize = 4;

/// The keys that a row may see (SPEC 2): the prefix from sinks and globals, and the near keys after
/// it. `seen` matters only where a dilation or a mask hides some of them.
#[derive(Clone, Debug)]
pub struct Span {
    /// Both ranges, increasing; either can be empty.
    pub ranges: [Range<usize>; 2],
    /// Whether the row is fully masked and every key has the same weight instead.
    pub mean: bool,
}

/// One row of a group; numbers outside the ranges of its span are undefined.
#[derive(Debug)]
pub struct Row {
    /// Which keys.
    pub span: Span,
    /// Weights or scores by key, 0 where a key is masked.
    pub values: Vec<f32>,
    /// Whether a key is visible, if the head is thinned.
    pub seen: Vec<bool>,
    scores: Vec<f32>,
}

/// One head of a Frame, ready to compute rows.
pub struct Head<'a> {
    frame: &'a Frame,
    number: usize,
    queries: Matrix<'a>,
    keys: Panels,
    /// The common row of all keys: `keys` lack it, and weights do not need it (SPEC 7).
    common: Vec<f32>,
    width: usize,
    quantity: Quantity,
    /// Whether a dilation or a mask hides keys inside the spans.
    pub thinned: bool,
}

impl<'a> Head<'a> {
    /// Head `head` of `frame` from its q `[L, d_h]` and its k `[L + 1, d_h]`: the keys without
    /// their common row, then that row. With a score rank its factors replace both.
    pub fn new(frame: &'a Frame, head: usize, q: &'a [f32], k: &[f32], quantity: Quantity) -> Self {
        let (layer, config) = (&frame.layer, &frame.config);
        let len = layer.seq_len;
        let ranked = config.score_rank.zip(frame.score_factors.as_ref());
        let (queries, keys, common, width) = if let Some((rank, factors)) = ranked {
            let stride = factors.q.shape.get(2).copied().unwrap_or(1);
            let width = stride.min(rank as usize);
            let k = factors.k.outer(head);
            let keys = Panels::new(len, width, &|j, c| k[j * stride + c]);
            let common = k[len * stride..][..width].to_vec();
            let data = factors.q.outer(head);
            (Matrix { data, stride }, keys, common, width)
        } else {
            let stride = layer.head_dim;
            let p_k = frame.biases.p_k.as_ref();
            let shared = p_k.map_or_else(
                || vec![0.0; stride],
                |bias| common_row(bias.unit.outer(head), stride),
            );
            let keys = biased(p_k, head, k, &shared);
            let keys = Panels::new(len, stride, &keys);
            let amplitude = p_k.map_or(0.0, |bias| bias.amplitude);
            let common = k[len * stride..]
                .iter()
                .zip(&shared)
                .map(|(k, p)| k + amplitude * p)
                .collect();
            (Matrix { data: q, stride }, keys, common, stride)
        };
        Self {
            frame,
            number: head,
            queries,
            keys,
            common,
            width,
            quantity,
            thinned: config.visibility.dilation > 1 || layer.mask.is_some(),
        }
    }

    /// Multiply-adds of one row, including exponentials.
    pub fn cost(&self) -> u64 {
        let keys = keys_per_row(self.frame.layer.seq_len, &self.frame.config.visibility);
        (keys * (self.width + EXP_COST)) as u64 + 1
    }

    /// Buffers for a group of rows.
    pub fn buffers(&self) -> [Row; GROUP] {
        let len = self.frame.layer.seq_len.next_multiple_of(LANES);
        std::array::from_fn(|_| Row {
            span: Span {
                ranges: [0..0, 0..0],
                mean: false,
            },
            values: vec![0.0; len],
            seen: vec![false; if self.thinned { len } else { 0 }],
            scores: vec![0.0; len],
        })
    }

    /// Computes rows `at ..` below `end`, at most four.
    pub fn make(&self, at: usize, end: usize, rows: &mut [Row; GROUP]) {
        for (n, row) in rows.iter_mut().enumerate() {
            row.span = self.span((at + n).min(end - 1), &mut row.seen);
        }
        let reach = reach(rows);
        self.scores(at, end, &reach, rows);
        for (n, row) in rows.iter_mut().enumerate().take(end - at) {
            for range in &reach {
                row.values[range.clone()].fill(0.0);
            }
            self.weights(at + n, row);
        }
    }

    fn reading(&self) -> Reading {
        self.frame.config.reading
    }

    /// Span of row `i`; if the head is thinned, also which of its keys are visible.
    fn span(&self, i: usize, seen: &mut [bool]) -> Span {
        let (layer, rule) = (&self.frame.layer, &self.frame.config.visibility);
        let len = layer.seq_len;
        let (kept, near) = rule.ranges(i, len);
        let mut keys = kept.len() + near.len();
        if self.thinned {
            seen[kept.clone()].fill(false);
            seen[near.clone()].fill(false);
            keys = 0;
            for j in rule.visible_keys(i, len, layer.mask.as_deref()) {
                seen[j] = true;
                keys += 1;
            }
        }
        let mean = keys == 0
            && self.frame.config.empty == FullyMasked::Mean
            && self.quantity == Quantity::Weights;
        if mean {
            seen.fill(true);
            return Span {
                ranges: [0..0, 0..len],
                mean,
            };
        }
        Span {
            ranges: [kept, near],
            mean,
        }
    }

    fn scores(&self, at: usize, end: usize, reach: &[Range<usize>; 2], rows: &mut [Row; GROUP]) {
        let inner = 0..self.width;
        let queries = self.queries.four(at, end, &inner);
        let scale = self.frame.config.scale as f32;
        let panels = |of: &Range<usize>| of.start / LANES..of.end.div_ceil(LANES);
        let [kept, near] = [panels(&reach[0]), panels(&reach[1])];
        // A panel on the border of both ranges is computed once.
        let near = near.start.max(kept.end)..near.end.max(kept.end);
        for p in kept.chain(near) {
            let panel = self.keys.panel(p, inner.clone());
            let to = rows
                .each_mut()
                .map(|row| &mut row.scores[p * LANES..][..LANES]);
            tile_into(queries, panel, scale, to);
        }
    }

    /// The shared score of row `i`: scale · `q_i` · the common row.
    fn shared_score(&self, i: usize) -> f32 {
        let query = &self.queries.data[i * self.queries.stride..][..self.width];
        let dot: f64 = query
            .iter()
            .zip(&self.common)
            .map(|(&q, &c)| f64::from(q) * f64::from(c))
            .sum();
        (self.frame.config.scale * dot) as f32
    }

    /// s of row `i` by key; `None` when there is none or the reading ignores it.
    fn auxiliary(&self, i: usize) -> Option<&[f32]> {
        let len = self.frame.layer.seq_len;
        match self.frame.biases.s.as_ref()? {
            _ if !self.reading().uses_score_bias() => None,
            ScoreBias::Curve { table, .. } => Some(&table[len - 1 - i..][..len]),
            ScoreBias::Dense(s) => Some(&s.outer(self.number)[i * len..][..len]),
        }
    }

    /// Turns the scores of row `i` into its values.
    fn weights(&self, i: usize, row: &mut Row) {
        let Row {
            span,
            values,
            seen,
            scores,
        } = row;
        if span.mean {
            let len = self.frame.layer.seq_len;
            values[..len].fill(1.0 / len as f32);
            return;
        }
        let s = self.auxiliary(i);
        let score = self.quantity == Quantity::Score;
        for range in span.ranges.clone() {
            let values = &mut values[range.clone()];
            if score {
                // The earlier fill left zeros.
                lanes::add(values, &scores[range.clone()], self.shared_score(i));
            } else if self.reading() != Reading::Product {
                values.copy_from_slice(&scores[range.clone()]);
            } else if let Some(s) = s {
                values.copy_from_slice(&s[range.clone()]);
            }
            if self.thinned {
                let hidden = if score { 0.0 } else { LOWEST };
                for (value, _) in values.iter_mut().zip(&seen[range]).filter(|(_, s)| !**s) {
                    *value = hidden;
                }
            }
        }
        if score {
            return;
        }
        let added = s.filter(|_| self.reading() == Reading::Bias);
        self.normalise(span, values, added, seen);
        if self.reading() == Reading::Product {
            for range in span.ranges.clone() {
                lanes::multiply(
                    &mut values[range.clone()],
                    &scores[range],
                    self.shared_score(i),
                );
            }
        }
    }

    /// The largest of `s` among the visible keys of `part`.
    fn largest(&self, s: &[f32], seen: &[bool], part: &Range<usize>) -> f32 {
        if !self.thinned {
            return lanes::largest(s);
        }
        s.iter()
            .zip(&seen[part.clone()])
            .filter(|(_, seen)| **seen)
            .fold(LOWEST, |most, (&s, _)| most.max(s))
    }

    /// segsoftmax of the z in `values`, or of `values` plus `s`. The largest visible s of a segment
    /// is subtracted before s is added: a large s that keys share leaves r its digits (SPEC 7).
    fn normalise(&self, span: &Span, values: &mut [f32], s: Option<&[f32]>, seen: &[bool]) {
        let segment = self.frame.config.segment_len(self.frame.layer.seq_len);
        let [kept, near] = &span.ranges;
        let cut = |of: &Range<usize>| of.start / segment..of.end.div_ceil(segment);
        let (first, second) = (cut(kept), cut(near));
        let second = second.start.max(first.end)..second.end;
        let mut groups = 0u32;
        for g in first.chain(second) {
            let parts = [kept, near].map(|range| {
                let start = range.start.max(g * segment);
                start..range.end.min((g + 1) * segment).max(start)
            });
            if let Some(s) = s {
                let largest = parts
                    .iter()
                    .map(|part| self.largest(&s[part.clone()], seen, part))
                    .fold(LOWEST, f32::max);
                for part in parts.iter().filter(|_| largest > LOWEST) {
                    lanes::add(&mut values[part.clone()], &s[part.clone()], -largest);
                }
            }
            let top = parts
                .iter()
                .map(|part| lanes::largest(&values[part.clone()]))
                .fold(LOWEST, f32::max);
            // In a segment whose keys are all masked, all exponentials are 0.
            let holds = top > LOWEST;
            let top = if holds { top } else { 0.0 };
            let sum: f32 = parts
                .iter()
                .map(|part| lanes::exp_all(&mut values[part.clone()], top))
                .sum();
            if holds {
                groups += 1;
                for part in parts {
                    lanes::scale(&mut values[part], 1.0 / sum);
                }
            }
        }
        if groups > 1 {
            for range in span.ranges.clone() {
                lanes::scale(&mut values[range], 1.0 / groups as f32);
            }
        }
    }
}

/// The union of the keys that the rows see, as two ranges.
pub fn reach(rows: &[Row; GROUP]) -> [Range<usize>; 2] {
    let [kept, near] = [0, 1].map(|at| {
        let ranges = rows.iter().map(|row| &row.span.ranges[at]);
        let filled = ranges.filter(|range| !range.is_empty());
        filled.fold((usize::MAX, 0), |all, range| {
            (all.0.min(range.start), all.1.max(range.end))
        })
    });
    // The prefix is at the start.
    let end = near.1.max(kept.1);
    [0..kept.1, near.0.max(kept.1).min(end)..end]
}

/// Row j, number c of k + P_K or v + P_V, with `common` subtracted from every row of P.
pub fn biased<'a>(
    bias: Option<&'a PositionBias>,
    head: usize,
    base: &'a [f32],
    common: &'a [f32],
) -> impl Fn(usize, usize) -> f32 + use<'a> {
    let dim = common.len();
    let bias = bias.filter(|bias| bias.amplitude != 0.0);
    let amplitude = bias.map_or(0.0, |bias| bias.amplitude);
    let unit = bias.map_or(&[0.0][..], |bias| bias.unit.outer(head));
    // One row for all positions, or one for each.
    let step = if unit.len() > dim { dim } else { 0 };
    let width = usize::from(bias.is_some());
    move |j, c| base[j * dim + c] + amplitude * (unit[j * step + c * width] - common[c])
}
