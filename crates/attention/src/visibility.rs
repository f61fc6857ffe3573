//! Which keys a query may see (SPEC 2).

use std::iter::{Chain, StepBy};
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The visibility rule of SPEC 2 without the boolean mask, which is a tensor of the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visibility {
    /// No key after the query (`j ≤ i`).
    pub causal: bool,
    /// Inclusive reach to the left; `None` is unlimited. Negative excludes the token itself.
    pub left: Option<i32>,
    /// Inclusive reach to the right; `None` is unlimited. Negative excludes the token itself.
    pub right: Option<i32>,
    /// Only offsets divisible by this are near; 1 means no dilation. Never 0.
    pub dilation: u32,
    /// The first `sinks` keys are visible to every query.
    pub sinks: u32,
    /// The first `globals` tokens see every token, and every token sees them.
    pub globals: u32,
    /// The last `padding` tokens are padding: no query sees them as keys. This is a boolean mask of
    /// SPEC 2 that needs no tensor.
    pub padding: u32,
}

impl Default for Visibility {
    fn default() -> Self {
        Self {
            causal: false,
            left: None,
            right: None,
            dilation: 1,
            sinks: 0,
            globals: 0,
            padding: 0,
        }
    }
}

/// The keys of one row that the rule allows, increasing: first the prefix (sinks, globals), then
/// the near keys after it. The boolean mask is not applied.
pub type RuleKeys = Chain<Range<usize>, StepBy<Range<usize>>>;

impl Visibility {
    /// Whether query `i` may see key `j` (SPEC 2, without mask and padding).
    pub fn sees(&self, i: usize, j: usize) -> bool {
        let offset = j as i64 - i as i64;
        let near = self.left.is_none_or(|l| offset >= -i64::from(l))
            && self.right.is_none_or(|r| offset <= i64::from(r))
            && offset.rem_euclid(i64::from(self.dilation.max(1))) == 0;
        let kept =
            j < self.sinks as usize || j < self.globals as usize || i < self.globals as usize;
        (near || kept) && (!self.causal || j <= i)
    }

    /// Whether query `i` may see key `j`, with the mask `[L, L]` (non-zero = visible), `seq_len` = L.
    pub fn visible(&self, i: usize, j: usize, seq_len: usize, mask: Option<&[u8]>) -> bool {
        j < self.key_end(seq_len) && self.sees(i, j) && mask.is_none_or(|m| m[i * seq_len + j] != 0)
    }

    /// How many of `seq_len` keys are not padding.
    pub fn key_end(&self, seq_len: usize) -> usize {
        seq_len.saturating_sub(self.padding as usize)
    }

    /// The two ranges of row `i`: the prefix of keys from sinks and globals (step 1), and the near
    /// keys after it (step [`Visibility::dilation`]), both clipped to `0 .. seq_len` and to the
    /// causal side.
    pub fn ranges(&self, i: usize, seq_len: usize) -> (Range<usize>, Range<usize>) {
        let keys = self.key_end(seq_len);
        let end = if self.causal { keys.min(i + 1) } else { keys };
        if i < self.globals as usize {
            return (0..end, end..end);
        }
        let kept = end.min(self.sinks.max(self.globals) as usize);
        let low = self.left.map_or(0, |l| i as i64 - i64::from(l));
        let high = self.right.map_or(end as i64, |r| {
            (i as i64 + i64::from(r) + 1).min(end as i64)
        });
        // The first key at or after the end of the prefix whose offset is a multiple of the
        // dilation.
        let step = i64::from(self.dilation.max(1));
        let from = low.max(kept as i64);
        let start = from + (i as i64 - from).rem_euclid(step);
        if start < high {
            (0..kept, start as usize..high as usize)
        } else {
            (0..kept, kept..kept)
        }
    }

    /// The keys that the rule lets query `i` see, increasing; the mask is not applied.
    pub fn keys(&self, i: usize, seq_len: usize) -> RuleKeys {
        let (kept, near) = self.ranges(i, seq_len);
        kept.chain(near.step_by(self.dilation.max(1) as usize))
    }

    /// The keys that query `i` sees, increasing, with the mask `[L, L]`.
    pub fn visible_keys<'m>(
        &self,
        i: usize,
        seq_len: usize,
        mask: Option<&'m [u8]>,
    ) -> impl Iterator<Item = usize> + use<'m> {
        let row = mask.map(|m| &m[i * seq_len..(i + 1) * seq_len]);
        self.keys(i, seq_len)
            .filter(move |&j| row.is_none_or(|m| m[j] != 0))
    }

    /// How many keys query `i` sees; constant time without a mask.
    pub fn count(&self, i: usize, seq_len: usize, mask: Option<&[u8]>) -> usize {
        if mask.is_some() {
            return self.visible_keys(i, seq_len, mask).count();
        }
        let (kept, near) = self.ranges(i, seq_len);
        kept.len() + near.len().div_ceil(self.dilation.max(1) as usize)
    }

    /// How many (query, key) pairs are visible.
    pub fn pairs(&self, seq_len: usize, mask: Option<&[u8]>) -> u64 {
        (0..seq_len)
            .map(|i| self.count(i, seq_len, mask) as u64)
            .sum()
    }

    /// G_i: how many segments of `segment_len` consecutive keys contain a key that query `i` sees
    /// (SPEC 3).
    pub fn segments(
        &self,
        i: usize,
        seq_len: usize,
        mask: Option<&[u8]>,
        segment_len: usize,
    ) -> usize {
        let mut last = None;
        let mut number = 0;
        for j in self.visible_keys(i, seq_len, mask) {
            let segment = Some(j / segment_len.max(1));
            if segment != last {
                number += 1;
                last = segment;
            }
        }
        number
    }

    /// Whether every query sees every key (without the mask).
    pub fn is_full(&self, seq_len: usize) -> bool {
        (0..seq_len).all(|i| self.count(i, seq_len, None) == seq_len)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules() -> impl Strategy<Value = Visibility> {
        let reach = || proptest::option::of(-4i32..14);
        (
            any::<bool>(),
            (reach(), reach()),
            1u32..5,
            0u32..5,
            0u32..5,
            0u32..18,
        )
            .prop_map(
                |(causal, (left, right), dilation, sinks, globals, padding)| Visibility {
                    causal,
                    left,
                    right,
                    dilation,
                    sinks,
                    globals,
                    padding,
                },
            )
    }

    proptest! {
        #[test]
        fn ranges_are_the_rule(
            rule in rules(),
            seq_len in 1usize..16,
            segment in 1usize..17,
            bits in proptest::collection::vec(0u8..3, 256),
            masked in any::<bool>(),
        ) {
            let mask = masked.then(|| &bits[..seq_len * seq_len]);
            let mut pairs = 0;
            for i in 0..seq_len {
                let rule_only: Vec<usize> = (0..seq_len)
                    .filter(|&j| rule.visible(i, j, seq_len, None))
                    .collect();
                prop_assert_eq!(rule.keys(i, seq_len).collect::<Vec<_>>(), rule_only);
                let brute: Vec<usize> =
                    (0..seq_len).filter(|&j| rule.visible(i, j, seq_len, mask)).collect();
                let fast: Vec<usize> = rule.visible_keys(i, seq_len, mask).collect();
                prop_assert_eq!(&fast, &brute);
                prop_assert_eq!(rule.count(i, seq_len, mask), brute.len());
                let groups: std::collections::BTreeSet<usize> =
                    brute.iter().map(|j| j / segment).collect();
                prop_assert_eq!(rule.segments(i, seq_len, mask, segment), groups.len());
                pairs += brute.len() as u64;
            }
            prop_assert_eq!(rule.pairs(seq_len, mask), pairs);
        }
    }

    #[test]
    fn strict_past_leaves_row_zero_empty() {
        let rule = Visibility {
            left: Some(3),
            right: Some(-1),
            ..Visibility::default()
        };
        assert_eq!(rule.count(0, 12, None), 0);
        assert_eq!(rule.keys(5, 12).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn padding_is_a_mask_over_keys() {
        let padded = |padding| Visibility {
            padding,
            globals: 1,
            ..Visibility::default()
        };
        assert_eq!(padded(3).keys(0, 8).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(!padded(3).visible(7, 7, 8, None), "not even itself");
        assert_eq!(padded(9).pairs(8, None), 0);
    }

    #[test]
    fn extreme_reaches_do_not_overflow() {
        for reach in [i32::MIN, i32::MAX] {
            let rule = Visibility {
                left: Some(reach),
                right: Some(reach),
                dilation: u32::MAX,
                sinks: u32::MAX,
                globals: 0,
                padding: 0,
                causal: false,
            };
            assert_eq!(rule.count(3, 7, None), 7);
        }
    }

    #[test]
    fn wide_window_is_full() {
        let wide = |w| Visibility {
            left: Some(w),
            right: Some(w),
            ..Visibility::default()
        };
        assert!(wide(23).is_full(24));
        assert!(!wide(22).is_full(24));
    }
}
