//! Position of a slider's thumb: linear for short ranges, logarithmic for long ones, so that w = 2
//! and w = 60 000 are both within reach.

/// Thumb positions of a logarithmic slider.
pub const POSITIONS: u32 = 400;

/// The range of a slider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Distance between values.
    pub step: f64,
}

impl Track {
    /// The thumb moves logarithmically: there are more values than anyone can point at.
    pub fn by_ratio(self) -> bool {
        self.min >= 0.0 && (self.max - self.min) / self.step > f64::from(POSITIONS)
    }

    /// The nearest value on the track; `min` for NaN.
    pub fn snap(self, value: f64) -> f64 {
        if value.is_nan() {
            return self.min;
        }
        let steps = ((value - self.min) / self.step).round();
        let snapped = (self.min + steps * self.step).clamp(self.min, self.max.max(self.min));
        // Rounded to as many decimals as the step has: 0.1 + 0.2 must not show up in a link.
        let per_unit = (1.0 / self.step).round();
        if per_unit > 1.0 {
            (snapped * per_unit).round() / per_unit
        } else {
            snapped
        }
    }

    /// Thumb position of a value, for the range input: the value itself, or 0 ..= [`POSITIONS`].
    pub fn position(self, value: f64) -> f64 {
        if self.by_ratio() {
            let span = (self.max - self.min) / self.step;
            let at = ((value - self.min) / self.step).max(0.0);
            (at.ln_1p() / span.ln_1p() * f64::from(POSITIONS)).round()
        } else {
            value
        }
    }

    /// Value of a thumb position.
    pub fn value(self, position: f64) -> f64 {
        if self.by_ratio() {
            let span = (self.max - self.min) / self.step;
            let at = (position / f64::from(POSITIONS) * span.ln_1p()).exp_m1();
            self.snap(self.min + at * self.step)
        } else {
            self.snap(position)
        }
    }

    /// Twice the value, at least one step away.
    pub fn double(self, value: f64) -> f64 {
        self.snap((value * 2.0).max(value + self.step))
    }

    /// Half the value (towards zero), at least one step away.
    pub fn halve(self, value: f64) -> f64 {
        self.snap((value / 2.0).min(value - self.step))
    }
}

#[cfg(test)]
mod tests {
    // Tracks promise exact values: their ends, and whole steps.
    #![allow(clippy::float_cmp)]

    use super::*;

    const W: Track = Track {
        min: 0.0,
        max: 65_535.0,
        step: 1.0,
    };
    const SHORT: Track = Track {
        min: 0.0,
        max: 23.0,
        step: 1.0,
    };
    const FINE: Track = Track {
        min: -5.0,
        max: 5.0,
        step: 0.05,
    };

    #[test]
    fn short_tracks_are_even_and_long_ones_go_by_ratio() {
        assert!(W.by_ratio() && !SHORT.by_ratio() && !FINE.by_ratio());
        assert_eq!(SHORT.position(7.0), 7.0);
        assert!(W.position(256.0) > 0.45 * f64::from(POSITIONS));
    }

    #[test]
    fn ends_are_reached_exactly() {
        for track in [W, SHORT, FINE] {
            assert_eq!(track.value(track.position(track.min)), track.min);
            assert_eq!(track.value(track.position(track.max)), track.max);
        }
    }

    #[test]
    fn values_rise_with_the_thumb() {
        let values: Vec<f64> = (0..=POSITIONS).map(|p| W.value(f64::from(p))).collect();
        assert!(values.is_sorted());
        assert_eq!(values.last(), Some(&65_535.0));
    }

    #[test]
    fn doubling_and_halving_always_move_until_the_end() {
        assert_eq!(SHORT.double(0.0), 1.0);
        assert_eq!(SHORT.double(4.0), 8.0);
        assert_eq!(SHORT.double(20.0), 23.0);
        assert_eq!(SHORT.halve(1.0), 0.0);
        assert_eq!(SHORT.halve(9.0), 5.0);
        assert_eq!(SHORT.halve(0.0), 0.0);
    }

    #[test]
    fn snapping_leaves_no_binary_dust() {
        assert_eq!(FINE.snap(0.1 + 0.2), 0.3);
        assert_eq!(FINE.snap(f64::NAN), -5.0);
        assert_eq!(FINE.snap(f64::INFINITY), 5.0);
    }
}
