//! Facts about the picture of one head, from which the page makes its sentence. All in f64.

/// Facts of one head's weights.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Fewest keys that any query sees.
    pub visible_min: usize,
    /// Most keys that any query sees.
    pub visible_max: usize,
    /// Mean number of visible keys.
    pub visible_mean: f64,
    /// Queries that see no key.
    pub empty_rows: usize,
    /// The largest weight by magnitude: query, key, weight.
    pub strongest: Option<(usize, usize, f64)>,
    /// The key with the largest mean weight over all queries, and that mean.
    pub favourite: Option<(usize, f64)>,
    /// The offset j − i in −3 ..= 3 with the largest mean weight (over the queries for which it
    /// exists), and that mean.
    pub offset: Option<(i32, f64)>,
    /// Smallest and largest row sum over the queries that see a key.
    pub row_sum: (f64, f64),
    /// Share of visible cells with a negative weight.
    pub negative: f64,
    /// Mean entropy of the rows in bits (softmax and bias readings with one segment), else `None`.
    pub entropy: Option<f64>,
    /// What the mask takes away from full attention with the same q and k'; `None` when every
    /// query sees every key.
    pub lost: Option<Lost>,
    /// Largest |A − A₀| where A₀ leaves P_K and s away and keeps everything else.
    pub moved: f64,
}

/// Weight that full attention (softmax of r, no mask) puts on keys that are masked here.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Lost {
    /// Mean over all queries.
    pub mean: f64,
    /// The query that loses most.
    pub row: usize,
    /// How much it loses, 0 ..= 1.
    pub share: f64,
    /// The masked key on which that query had put most.
    pub key: usize,
    /// The weight it had put there.
    pub key_share: f64,
}
