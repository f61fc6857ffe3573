//! What the mask of a Scene lets through, as the numbers that labels need.

use crate::attention::visibility::Visibility;
use crate::scene::Scene;
use crate::ui::controls::sees_window;
use crate::scene::Convention;

/// The resolved reach of the window and the keys that rows see (SPEC 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Inclusive reach to the left; `None` is unlimited.
    pub left: Option<i32>,
    /// Inclusive reach to the right; `None` is unlimited.
    pub right: Option<i32>,
    /// Fewest keys that a row sees.
    pub min: usize,
    /// Most keys that a row sees.
    pub max: usize,
    /// Visible pairs over all pairs.
    pub share: f64,
}

impl Reach {
    /// The reach of a Scene on L tokens.
    pub fn of(scene: &Scene, seq_len: u32) -> Self {
        let rule = visibility(scene);
        let n = seq_len.max(1) as usize;
        let (mut min, mut max, mut pairs) = (usize::MAX, 0, 0u64);
        for i in 0..n {
            let count = rule.count(i, n, None);
            min = min.min(count);
            max = max.max(count);
            pairs += count as u64;
        }
        let share = pairs as f64 / (n as f64 * n as f64);
        Self { left: rule.left, right: rule.right, min, max, share }
    }

    /// Keys per row as text: one number or a range.
    pub fn keys(&self) -> String {
        if self.min == self.max {
            self.max.to_string()
        } else {
            format!("{}–{}", self.min, self.max)
        }
    }
}

fn visibility(scene: &Scene) -> Visibility {
    if !sees_window(scene) {
        return Visibility { causal: scene.causal, ..Visibility::default() };
    }
    let window = &scene.window;
    let w = i32::try_from(window.size).unwrap_or(i32::MAX);
    let (left, right, causal) = match window.convention {
        Convention::Distance => (Some(w), Some(w), false),
        Convention::CausalDistance => (Some(w), Some(0), true),
        Convention::CausalCount => (Some(w - 1), Some(0), true),
        Convention::Longformer => (Some(w / 2), Some(w / 2), false),
        Convention::Explicit => (window.left, window.right, false),
    };
    Visibility {
        causal: scene.causal || causal,
        left,
        right,
        dilation: window.dilation.max(1),
        sinks: window.sinks,
        globals: window.globals,
    }
}
