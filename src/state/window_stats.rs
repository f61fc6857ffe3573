//! How much the mask of a Scene lets through, in numbers for labels.

use attnscope_scene::Scene;
use attnscope_scene::key_count::KeyCount;

/// The resolved reach of the window and the keys that rows see (SPEC 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Inclusive reach to the left; `None` is unlimited.
    pub left: Option<i32>,
    /// Inclusive reach to the right; `None` is unlimited.
    pub right: Option<i32>,
    /// Keys per row.
    pub count: KeyCount,
    /// Visible pairs as a share of all pairs.
    pub share: f64,
}

impl Reach {
    /// The reach of a Scene on L tokens.
    pub fn of(scene: &Scene, seq_len: u32) -> Self {
        let rule = scene.visibility();
        let count = KeyCount::new(&rule, seq_len as usize);
        Self {
            left: rule.left,
            right: rule.right,
            count,
            share: count.share(seq_len as usize),
        }
    }

    /// Keys per row as text: one number or a range.
    pub fn keys(&self) -> String {
        let KeyCount { min, max, .. } = self.count;
        if min == max {
            max.to_string()
        } else {
            format!("{min}–{max}")
        }
    }
}
