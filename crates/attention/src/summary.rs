//! What the page's sentence says about the map of one head. All in f64.

use super::config::{Config, FullyMasked};
use super::layer::{Biases, Layer};
use super::reference::{Head, ReferenceError, Row};

/// Summary of one head's weights.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Fewest keys that any query sees.
    pub visible_min: usize,
    /// Most keys that any query sees.
    pub visible_max: usize,
    /// Mean number of visible keys.
    pub visible_mean: f64,
    /// Fully masked rows.
    pub empty_rows: usize,
    /// The largest weight by magnitude: query, key, weight.
    pub strongest: Option<(usize, usize, f64)>,
    /// The key with the largest mean weight over all queries, and that mean.
    pub favourite: Option<(usize, f64)>,
    /// The query with the largest weight on that key.
    pub favourite_row: Option<usize>,
    /// The offset j − i in −3 ..= 3 with the largest mean weight (over the queries for which it
    /// exists), and that mean.
    pub offset: Option<(i32, f64)>,
    /// The query with the largest weight at that offset.
    pub offset_row: Option<usize>,
    /// Smallest and largest row sum over the rows that are not fully masked.
    pub row_sum: (f64, f64),
    /// Share of visible cells with a negative weight.
    pub negative: f64,
    /// Mean entropy of the rows in bits (softmax and bias readings with one segment), else `None`.
    pub entropy: Option<f64>,
    /// The weight that the mask takes away from full attention with the same q, k' and s; `None`
    /// when every query sees every key, and in the product reading, whose weights are not shares of
    /// a whole.
    pub lost: Option<Lost>,
    /// Largest |A − A₀|, where A₀ is computed without P_K and s and is otherwise the same.
    pub moved: f64,
    /// The query and key of that largest difference; `None` when nothing moves.
    pub moved_at: Option<(usize, usize)>,
}

/// Weight that full attention (softmax of r or r + s, no mask) puts on keys that are masked here.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Lost {
    /// Mean over all queries.
    pub mean: f64,
    /// The requested query if it loses a key, else the one that loses most.
    pub row: usize,
    /// The share of weight it loses, 0 ..= 1.
    pub share: f64,
    /// The masked key with the largest weight for that query under full attention.
    pub key: usize,
    /// That key's weight under full attention.
    pub key_share: f64,
}

/// The offsets j − i that [`Summary::offset`] covers.
const OFFSETS: [i32; 7] = [-3, -2, -1, 0, 1, 2, 3];

/// Summarizes head `head` of `layer` with `config` and `biases`. At most three times O(L² · d_h):
/// the head itself, full attention if keys are masked, and the head without P_K and s if it has
/// them. In a preview the only head is head 0.
///
/// # Errors
/// As [`Head::new`].
pub fn summarize(
    layer: &Layer,
    config: &Config,
    biases: &Biases,
    head: usize,
) -> Result<Summary, ReferenceError> {
    summarize_head(&Head::new(layer, config, biases, head)?, None)
}

/// As [`summarize`], for an existing head; [`Summary::lost`] prefers query `asked`.
///
/// # Errors
/// As [`Head::without_biases`].
pub fn summarize_head(here: &Head, asked: Option<usize>) -> Result<Summary, ReferenceError> {
    let plain = here.without_biases()?;
    let config = here.config();
    let l = here.seq_len;
    let mut gather = Gather::new(l);
    let mut lost = LostSum {
        asked,
        ..LostSum::default()
    };
    for i in 0..l {
        let row = here.row(i);
        gather.row(i, &row);
        // A fully masked row with the mean loses nothing: every key has a weight.
        let mean = row.seen == 0 && config.empty == FullyMasked::Mean;
        if row.seen < l && !mean && !config.reading.is_signed() {
            lost.row(i, here, &row);
        }
        if let Some(plain) = &plain {
            // Both rows have the same keys: the mask does not depend on the biases.
            let weights = row.weights.iter().zip(plain.row(i).weights);
            for (&j, (a, b)) in row.keys.iter().zip(weights) {
                let by = (a - b).abs();
                if by > gather.summary.moved {
                    (gather.summary.moved, gather.summary.moved_at) = (by, Some((i, j)));
                }
            }
        }
    }
    let mut summary = gather.finish();
    summary.lost = lost.finish(l);
    let one_softmax = !config.reading.is_signed() && config.segment_len(l) >= l;
    if !one_softmax {
        summary.entropy = None;
    }
    Ok(summary)
}

/// Sums over the rows of one map.
struct Gather {
    summary: Summary,
    /// Σ_i A_ij for every key.
    columns: Vec<f64>,
    /// Σ_i A_{i, i+o} for every offset.
    offsets: Vec<f64>,
    /// The largest weight of every key, and of every offset, with its query.
    column_peaks: Vec<Peak>,
    offset_peaks: Vec<Peak>,
    cells: usize,
    negative: usize,
    entropy: f64,
}

/// A largest weight so far, and its query.
type Peak = Option<(usize, f64)>;

fn raise(peak: Option<&mut Peak>, query: usize, weight: f64) {
    if let Some(peak) = peak
        && peak.is_none_or(|(_, most)| weight > most)
    {
        *peak = Some((query, weight));
    }
}

impl Gather {
    fn new(l: usize) -> Self {
        Self {
            summary: Summary {
                visible_min: usize::MAX,
                row_sum: (f64::INFINITY, f64::NEG_INFINITY),
                ..Summary::default()
            },
            columns: vec![0.0; l],
            offsets: vec![0.0; OFFSETS.len()],
            column_peaks: vec![None; l],
            offset_peaks: vec![None; OFFSETS.len()],
            cells: 0,
            negative: 0,
            entropy: 0.0,
        }
    }

    fn row(&mut self, i: usize, row: &Row) {
        let summary = &mut self.summary;
        let n = row.seen;
        self.cells += n;
        summary.visible_min = summary.visible_min.min(n);
        summary.visible_max = summary.visible_max.max(n);
        if n == 0 {
            summary.empty_rows += 1;
            // The weights of a fully masked row (`FullyMasked::Mean`) count in means over all queries.
            for (sum, weight) in self.columns.iter_mut().zip(&row.weights) {
                *sum += weight;
            }
            for (sum, by) in self.offsets.iter_mut().zip(OFFSETS) {
                if let Some(weight) = usize::try_from(i as i64 + i64::from(by))
                    .ok()
                    .and_then(|j| row.weights.get(j))
                {
                    *sum += weight;
                }
            }
            return;
        }
        let sum: f64 = row.weights.iter().sum();
        summary.row_sum = (summary.row_sum.0.min(sum), summary.row_sum.1.max(sum));
        for (&j, &weight) in row.keys.iter().zip(&row.weights) {
            self.columns[j] += weight;
            raise(self.column_peaks.get_mut(j), i, weight);
            if summary
                .strongest
                .is_none_or(|(_, _, most)| weight.abs() > most.abs())
            {
                summary.strongest = Some((i, j, weight));
            }
            let offset = j as i64 - i as i64 - i64::from(OFFSETS[0]);
            if let Ok(offset) = usize::try_from(offset)
                && let Some(sum) = self.offsets.get_mut(offset)
            {
                *sum += weight;
                raise(self.offset_peaks.get_mut(offset), i, weight);
            }
            if weight < 0.0 {
                self.negative += 1;
            }
            if weight > 0.0 {
                self.entropy -= weight * weight.log2();
            }
        }
    }

    fn finish(self) -> Summary {
        let mut summary = self.summary;
        let l = self.columns.len();
        let rows = l - summary.empty_rows;
        summary.visible_mean = self.cells as f64 / l as f64;
        if rows == 0 {
            summary.row_sum = (0.0, 0.0);
            return summary;
        }
        // `max_by` returns the last of equal elements; the reversed iterator makes that the first.
        let largest = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        summary.favourite = self
            .columns
            .iter()
            .map(|sum| sum / l as f64)
            .enumerate()
            .rev()
            .max_by(largest);
        let query = |peak: Option<&Peak>| peak.copied().flatten().map(|(query, _)| query);
        summary.favourite_row = summary
            .favourite
            .and_then(|(key, _)| query(self.column_peaks.get(key)));
        summary.offset = OFFSETS
            .into_iter()
            .zip(&self.offsets)
            .filter(|(o, _)| (o.unsigned_abs() as usize) < l)
            .map(|(o, sum)| (o, sum / (l - o.unsigned_abs() as usize) as f64))
            .rev()
            .max_by(|a, b| a.1.total_cmp(&b.1));
        summary.offset_row = summary.offset.and_then(|(by, _)| {
            let at = OFFSETS.iter().position(|offset| *offset == by)?;
            query(self.offset_peaks.get(at))
        });
        summary.negative = self.negative as f64 / self.cells as f64;
        summary.entropy = Some(self.entropy / rows as f64);
        summary
    }
}

/// Adds up over the rows what the mask takes away.
#[derive(Default)]
struct LostSum {
    asked: Option<usize>,
    sum: f64,
    /// The reported row: the worst so far, or the requested one.
    told: Option<Lost>,
}

impl LostSum {
    /// Adds row `i`, which does not see every key: its full softmax minus the weight it sees.
    fn row(&mut self, i: usize, head: &Head, row: &Row) {
        // s is 0 where the reading ignores it.
        let exponent = |j| head.score(i, j) + head.auxiliary(i, j);
        let exponents: Vec<f64> = (0..head.seq_len).map(exponent).collect();
        let top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = exponents.iter().map(|z| (z - top).exp()).collect();
        let whole: f64 = weights.iter().sum();
        let mut visible = row.keys[..row.seen].iter().copied().peekable();
        let mut lost = Lost {
            row: i,
            ..Lost::default()
        };
        for (j, weight) in weights.iter().map(|w| w / whole).enumerate() {
            if visible.next_if_eq(&j).is_some() {
                continue;
            }
            lost.share += weight;
            if weight > lost.key_share {
                (lost.key, lost.key_share) = (j, weight);
            }
        }
        self.sum += lost.share;
        let is_asked = |row: usize| self.asked == Some(row);
        let told = self.told.as_ref();
        if is_asked(i) || told.is_none_or(|told| !is_asked(told.row) && lost.share > told.share) {
            self.told = Some(lost);
        }
    }

    fn finish(self, l: usize) -> Option<Lost> {
        self.told.map(|told| Lost {
            mean: self.sum / l as f64,
            ..told
        })
    }
}
