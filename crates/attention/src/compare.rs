//! Compares the numbers of an engine with those of the reference (SPEC 7): the result must be used,
//! NaN is checked first, the tolerance has a name, and the worst element is reported.

use std::fmt;

/// How far apart two numbers may be: `|got − want| ≤ absolute + relative · max|want|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The name in reports.
    pub name: &'static str,
    /// The part that is always allowed.
    pub absolute: f64,
    /// Multiplied by the largest |want| of the tensor.
    pub relative: f64,
}

impl Tolerance {
    /// SPEC 7, for every engine that computes in f32.
    pub const ENGINE: Self = Self {
        name: "f32 engine (SPEC 7)",
        absolute: 1e-5,
        relative: 1e-4,
    };
    /// For the f64 reference against expectations that were rounded to f32: only that rounding
    /// (6e-8), with a margin for the order of sums.
    pub const REFERENCE: Self = Self {
        name: "f64 reference, expectation rounded to f32",
        absolute: 1e-7,
        relative: 2e-6,
    };
    /// For two f64 computations of the same thing.
    pub const DOUBLE: Self = Self {
        name: "f64 against f64",
        absolute: 1e-12,
        relative: 1e-10,
    };
}

impl Tolerance {
    /// This tolerance for rows whose scores are large and differ (SPEC 7): it also allows their f32
    /// rounding, 2⁻²² of `spread` ([`Head::score_spread`](super::reference::Head::score_spread)).
    #[must_use]
    pub fn with_spread(self, spread: f64) -> Self {
        Self {
            relative: self.relative + spread * (-22f64).exp2(),
            ..self
        }
    }
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All elements are within tolerance.
    Equal,
    /// The numbers of elements differ: got, want.
    Length(usize, usize),
    /// An element of `got` or `want` is NaN or infinite.
    NotFinite,
    /// The worst element is beyond tolerance.
    Differs,
}

/// The result of [`compare`]; a test that drops it cannot fail.
#[must_use = "a comparison that nobody looks at checks nothing"]
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was compared.
    pub what: String,
    /// The tolerance.
    pub tolerance: Tolerance,
    /// What was found.
    pub verdict: Verdict,
    /// Flat index of the worst (or first non-finite) element.
    pub index: usize,
    /// The number there.
    pub got: f64,
    /// The number expected there.
    pub want: f64,
    /// The largest `|got − want|` allowed.
    pub allowed: f64,
}

/// Compares `got` with `want` element by element. NaN and infinity never pass, on either side.
pub fn compare<G, W>(
    what: impl Into<String>,
    got: &[G],
    want: &[W],
    tolerance: Tolerance,
) -> Comparison
where
    G: Copy + Into<f64>,
    W: Copy + Into<f64>,
{
    let mut found = Comparison {
        what: what.into(),
        tolerance,
        verdict: Verdict::Equal,
        index: 0,
        got: 0.0,
        want: 0.0,
        allowed: tolerance.absolute,
    };
    if got.len() != want.len() {
        found.verdict = Verdict::Length(got.len(), want.len());
        return found;
    }
    let largest = want
        .iter()
        .fold(0.0f64, |most, &w| most.max(w.into().abs()));
    found.allowed = tolerance.absolute + tolerance.relative * largest;
    let mut worst = -1.0;
    for (index, (&g, &w)) in got.iter().zip(want).enumerate() {
        let (g, w) = (g.into(), w.into());
        let finite = g.is_finite() && w.is_finite();
        let distance = (g - w).abs();
        if !finite || distance > worst {
            worst = distance;
            (found.index, found.got, found.want) = (index, g, w);
        }
        if !finite {
            found.verdict = Verdict::NotFinite;
            return found;
        }
    }
    if worst > found.allowed {
        found.verdict = Verdict::Differs;
    }
    found
}

impl Comparison {
    /// Whether everything is within tolerance.
    pub fn is_equal(&self) -> bool {
        self.verdict == Verdict::Equal
    }

    /// The comparison as a result.
    ///
    /// # Errors
    /// Returns itself when anything is beyond tolerance.
    pub fn check(self) -> Result<(), Self> {
        if self.is_equal() { Ok(()) } else { Err(self) }
    }

    /// For tests: fails with the report.
    ///
    /// # Panics
    /// When anything is beyond tolerance.
    #[track_caller]
    pub fn assert(self) {
        assert!(self.is_equal(), "{self}");
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            tolerance,
            index,
            got,
            want,
            allowed,
            ..
        } = self;
        let distance = (got - want).abs();
        match self.verdict {
            Verdict::Length(g, w) => write!(f, "{what}: {g} elements where {w} are wanted"),
            Verdict::NotFinite => {
                write!(f, "{what}: not finite at {index}: got {got}, want {want}")
            }
            Verdict::Equal => write!(
                f,
                "{what}: equal; worst at {index}: got {got}, want {want}, off by {distance:e} \
                 (allowed {allowed:e}, {})",
                tolerance.name
            ),
            Verdict::Differs => write!(
                f,
                "{what}: differs; worst at {index}: got {got}, want {want}, off by {distance:e} \
                 where {allowed:e} is allowed ({})",
                tolerance.name
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_can_fail() {
        let want = [1.0f32, -2.0, 3.0];
        let off = compare("off", &[1.0f32, -2.001, 3.0], &want, Tolerance::ENGINE);
        assert_eq!((off.verdict.clone(), off.index), (Verdict::Differs, 1));
        assert!(off.check().is_err());
        // Just inside: 1e-5 + 1e-4 · 3.
        assert!(compare("in", &[1.0003f32, -2.0, 3.0], &want, Tolerance::ENGINE).is_equal());
        assert!(!compare("out", &[1.0004f32, -2.0, 3.0], &want, Tolerance::ENGINE).is_equal());
    }

    #[test]
    fn nothing_that_is_no_number_passes() {
        let cases: [(&[f32], &[f32]); 4] = [
            (&[0.0, f32::NAN], &[0.0, 1.0]),
            (&[0.0, 1.0], &[0.0, f32::NAN]),
            (&[0.0, f32::NAN], &[0.0, f32::NAN]),
            // An infinite expectation would otherwise make every tolerance infinite.
            (&[5.0, f32::INFINITY], &[1.0, f32::INFINITY]),
        ];
        for (got, want) in cases {
            let found = compare("nan", got, want, Tolerance::ENGINE);
            assert!(!found.is_equal(), "{found}");
        }
        let short = compare("short", &[1.0f32], &[1.0f32, 1.0], Tolerance::ENGINE);
        assert_eq!(short.verdict, Verdict::Length(1, 2));
    }

    #[test]
    fn the_report_names_the_worst() {
        let found = compare(
            "rows",
            &[0.0, 0.5, 0.4],
            &[0.0, 0.0, 0.0],
            Tolerance::ENGINE,
        );
        assert_eq!(found.index, 1);
        assert!(found.to_string().contains("worst at 1"));
    }
}
