//! Which keys a query may see (SPEC 2).

/// The visibility rule of SPEC 2 without the boolean mask, which is a tensor of the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// No key after the query (`j ≤ i`).
    pub causal: bool,
    /// Inclusive reach to the left; `None` is unlimited. Negative excludes the token itself.
    pub left: Option<i32>,
    /// Inclusive reach to the right; `None` is unlimited. Negative excludes the token itself.
    pub right: Option<i32>,
    /// Only offsets divisible by this are near; 1 is no dilation. Never 0.
    pub dilation: u32,
    /// The first so many keys are near every query.
    pub sinks: u32,
    /// The first so many tokens see, and are seen by, every token.
    pub globals: u32,
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
        }
    }
}

impl Visibility {
    /// Whether query `i` may see key `j` (SPEC 2, mask aside).
    pub fn sees(&self, i: usize, j: usize) -> bool {
        let offset = j as i64 - i as i64;
        let near = self.left.is_none_or(|l| offset >= -i64::from(l))
            && self.right.is_none_or(|r| offset <= i64::from(r))
            && offset.rem_euclid(i64::from(self.dilation.max(1))) == 0;
        let kept =
            j < self.sinks as usize || j < self.globals as usize || i < self.globals as usize;
        (near || kept) && (!self.causal || j <= i)
    }
}
