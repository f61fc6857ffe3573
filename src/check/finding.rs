//! The result of checking a fact: how far two arrays of numbers lie apart.

use attnscope_attention::compare::{Tolerance, compare};

/// A change far too large for rounding.
const CLEAR: f64 = 1e-3;

/// The result of checking one fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The fact holds here and now.
    pub holds: bool,
    /// The largest difference.
    pub difference: f64,
    /// The bound that the difference must stay below, or exceed if `exceeds` is set.
    pub bound: f64,
    /// The fact states that something changes.
    pub exceeds: bool,
}

impl Finding {
    /// Holds when both are equal within the tolerance of engines (SPEC 6). NaN equals nothing.
    pub fn equal(got: &[f32], want: &[f32]) -> Self {
        let found = compare("", got, want, Tolerance::ENGINE);
        Self {
            holds: found.is_equal(),
            difference: (found.got - found.want).abs(),
            bound: found.allowed,
            exceeds: false,
        }
    }

    /// Holds when both have the same bits; 0 and −0 do not.
    pub fn same_bits(got: &[f32], want: &[f32]) -> Self {
        let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let same = bits(got) == bits(want);
        Self {
            holds: same && got.iter().all(|x| !x.is_nan()),
            bound: 0.0,
            ..Self::equal(got, want)
        }
    }

    /// Holds when they differ by more than rounding. NaN does not count as a difference.
    pub fn differs(a: &[f32], b: &[f32]) -> Self {
        let difference = Self::equal(a, b).difference;
        Self {
            holds: difference.is_finite() && difference > CLEAR,
            difference,
            bound: CLEAR,
            exceeds: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_can_fail() {
        let one = [1.0, 2.0f32];
        assert!(Finding::equal(&one, &one).holds && Finding::same_bits(&one, &one).holds);
        assert!(!Finding::differs(&one, &one).holds);
        let off = [1.0, 2.1f32];
        assert!(!Finding::equal(&off, &one).holds && !Finding::same_bits(&off, &one).holds);
        assert!(Finding::differs(&off, &one).holds);
        let close = [1.0, 2.0f32.next_up()];
        assert!(Finding::equal(&close, &one).holds && !Finding::same_bits(&close, &one).holds);
        assert!(!Finding::same_bits(&[0.0], &[-0.0]).holds);
        let none = [f32::NAN, 2.0];
        for found in [Finding::equal, Finding::same_bits, Finding::differs] {
            assert!(!found(&none, &one).holds && !found(&none, &none).holds);
        }
    }
}
