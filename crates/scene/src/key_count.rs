//! Numbers of a mask for labels: how many keys a row sees, and the PyTorch line that makes the same
//! mask. Closed form per row: O(L), never O(L²).

use attnscope_attention::visibility::Visibility;

/// How many keys the queries of a sequence see, without the layer's own boolean mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCount {
    /// Fewest keys of any query.
    pub min: u32,
    /// Most keys of any query.
    pub max: u32,
    /// Visible cells of the whole map; `total / L²` is the share of full attention.
    pub total: u64,
}

impl KeyCount {
    /// Counts for a sequence of `seq_len` tokens.
    pub fn new(visibility: &Visibility, seq_len: usize) -> Self {
        let mut rows = (0..seq_len).map(|i| visibility.count(i, seq_len, None) as u32);
        let Some(first) = rows.next() else {
            return Self::default();
        };
        rows.fold(
            Self {
                min: first,
                max: first,
                total: u64::from(first),
            },
            |sum, keys| Self {
                min: sum.min.min(keys),
                max: sum.max.max(keys),
                total: sum.total + u64::from(keys),
            },
        )
    }

    /// Share of the L² cells that are visible, 0 ..= 1.
    pub fn share(&self, seq_len: usize) -> f64 {
        if seq_len == 0 {
            return 0.0;
        }
        self.total as f64 / (seq_len as f64 * seq_len as f64)
    }
}

/// The PyTorch expression of the same mask, for `i = torch.arange(L)[:, None]` and `j =
/// torch.arange(L)[None, :]`; `None` where everything is visible. Code needs no translation.
pub fn torch_mask(visibility: &Visibility) -> Option<String> {
    let mut all = Vec::new();
    if let Some(left) = visibility.left {
        all.push(format!("(j - i >= {})", -i64::from(left)));
    }
    if let Some(right) = visibility.right {
        all.push(format!("(j - i <= {right})"));
    }
    if visibility.dilation > 1 {
        all.push(format!("((j - i) % {} == 0)", visibility.dilation));
    }
    let kept = visibility.sinks.max(visibility.globals);
    // Where every key is near, sinks and globals add nothing.
    if !all.is_empty() && kept > 0 {
        let near = all.join(" & ");
        let mut any = vec![if all.len() > 1 {
            format!("({near})")
        } else {
            near
        }];
        any.push(format!("(j < {kept})"));
        if visibility.globals > 0 {
            any.push(format!("(i < {})", visibility.globals));
        }
        let any = any.join(" | ");
        all = vec![if visibility.causal || visibility.padding > 0 {
            format!("({any})")
        } else {
            any
        }];
    }
    if visibility.causal {
        all.push("(j <= i)".to_owned());
    }
    if visibility.padding > 0 {
        all.push(format!("(j < L - {})", visibility.padding));
    }
    (!all.is_empty()).then(|| all.join(" & "))
}
