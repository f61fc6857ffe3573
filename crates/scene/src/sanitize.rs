//! The way back into the legal ranges of [`KEYS`].

use super::keys::{KEYS, range};
use super::link_words::Word;
use super::warning::{Reason, Warning};
use super::{MAX_SEQ_LEN, Rect, Scene};

/// Number types of a Scene; all of them are exact in f64 within their legal ranges.
pub trait Number: Copy + std::fmt::Display {
    /// As f64, exactly.
    fn to_f64(self) -> f64;
    /// From an f64 within the type's range; saturates outside of it.
    fn from_f64(value: f64) -> Self;
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn from_f64(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}
number!(u8, u32, i32, f32);

impl Scene {
    /// The nearest legal Scene, and what had to be moved. Keys of the warnings are those of the
    /// link. A Scene that came through here passes unchanged a second time.
    #[must_use]
    pub fn sanitize(mut self) -> (Self, Vec<Warning>) {
        let mut fix = Fix::default();
        for key in KEYS {
            (key.fix)(&mut self, &mut fix);
        }
        (self, fix.warnings)
    }
}

/// Moves numbers into their ranges and writes down each move.
#[derive(Debug, Default)]
pub struct Fix {
    warnings: Vec<Warning>,
}

impl Fix {
    fn note(&mut self, key: &str, value: &str, reason: Reason) {
        self.warnings.push(Warning::new(key, value, reason));
    }

    pub(super) fn whole<T: Number>(&mut self, key: &str, value: &mut T) {
        self.within(key, range(key), value);
    }

    fn within<T: Number>(&mut self, key: &str, (min, max): (f64, f64), value: &mut T) {
        let given = value.to_f64();
        if !(min..=max).contains(&given) {
            self.note(key, &value.to_string(), Reason::OutOfRange { min, max });
            *value = T::from_f64(given.clamp(min, max));
        }
    }

    pub(super) fn optional<T: Number>(&mut self, key: &str, value: &mut Option<T>) {
        if let Some(value) = value {
            self.whole(key, value);
        }
    }

    /// Not-a-number becomes `default`, an infinity the nearer end, −0 becomes 0 (so that equal
    /// Scenes have equal links).
    pub(super) fn real(&mut self, key: &str, value: &mut f32, default: f32) {
        self.real_within(key, range(key), value, default);
    }

    pub(super) fn real_within(
        &mut self,
        key: &str,
        limits: (f64, f64),
        value: &mut f32,
        default: f32,
    ) {
        if value.is_nan() {
            self.note(key, "NaN", Reason::NotANumber);
            *value = default;
        }
        self.within(key, limits, value);
        *value += 0.0;
    }

    /// What stands in a list twice is kept once.
    pub(super) fn repeated<T: Word + Copy + PartialEq>(&mut self, key: &str, list: &mut Vec<T>) {
        let mut kept = Vec::with_capacity(list.len().min(8));
        for item in std::mem::take(list) {
            if kept.contains(&item) {
                self.note(key, item.word(), Reason::Repeated);
            } else {
                kept.push(item);
            }
        }
        *list = kept;
    }

    /// A rectangle ends at the longest sequence at the latest.
    pub(super) fn rect(&mut self, rect: &mut Rect) {
        self.whole("rect.at", &mut rect.row);
        self.whole("rect.at", &mut rect.col);
        self.whole("rect.size", &mut rect.rows);
        self.whole("rect.size", &mut rect.cols);
        for (at, size) in [(rect.row, &mut rect.rows), (rect.col, &mut rect.cols)] {
            let max = MAX_SEQ_LEN - at;
            if *size > max {
                let (min, max_f) = (1.0, f64::from(max));
                let reason = Reason::OutOfRange { min, max: max_f };
                self.note("rect.size", &size.to_string(), reason);
                *size = max;
            }
        }
    }
}
