//! Legal ranges of every number in a Scene, in one table, and the code that enforces them.

use super::link_words::Word;
use super::warning::{Reason, Warning};
use super::{MAX_SEQ_LEN, Rect, Scale, Scene, Source};

/// Largest magnitude of amplitudes, heights and slopes: with it every score of SPEC 1–3 is a finite
/// f32.
pub const MAX_FACTOR: f32 = 1000.0;

/// Largest magnitude of the free scale, and of a P_K per position. Where scores differ by thousands
/// within a row and two keys are almost equal, f32 cannot meet the tolerance of SPEC 7: with these
/// limits no product of both is that large (`tests/legal_ranges.rs`). The common part of all keys,
/// like a shared P_K, may reach [`MAX_FACTOR`]: it is subtracted before scores are rounded.
const MAX_SCALE: f64 = 10.0;
const MAX_POSITION_KEY: f64 = 5.0;

const L: f64 = MAX_SEQ_LEN as f64;
const F: f64 = MAX_FACTOR as f64;

/// Smallest and largest legal value by the parameter's name in links; a name after a dot is a part
/// of a compound parameter. The layer on screen limits heads, ranks and cells further (see
/// `limits`).
pub const RANGES: &[(&str, f64, f64)] = &[
    ("src.layer", 0.0, 5.0),
    ("src.len", 1.0, L),
    ("src.seed", 0.0, u32::MAX as f64),
    ("w", 0.0, L),
    ("left", -L, L),
    ("right", -L, L),
    ("dil", 1.0, L),
    ("sinks", 0.0, L),
    ("globals", 0.0, L),
    ("pad", 0.0, L),
    ("scale", -MAX_SCALE, MAX_SCALE),
    ("seg", 1.0, L),
    ("pk", -F, F),
    ("pk.position", -MAX_POSITION_KEY, MAX_POSITION_KEY),
    ("pk.seed", 0.0, u32::MAX as f64),
    ("pv", -F, F),
    ("pv.seed", 0.0, u32::MAX as f64),
    ("s", -F, F),
    ("s.slope", -F, F),
    ("s.decay", -F, F),
    ("s.wave", -F, F),
    ("s.period", 1.0 / 128.0, 1e6),
    ("s.bump", -F, F),
    ("s.at", -L, L),
    ("s.width", 1.0 / 128.0, 1e6),
    ("s.seed", 0.0, u32::MAX as f64),
    ("rho", 1.0, 16_384.0),
    ("r", 1.0, 16_384.0),
    ("head", 0.0, 1023.0),
    ("rect.at", 0.0, L - 1.0),
    ("rect.size", 1.0, L),
    ("cell.at", 0.0, L - 1.0),
];

/// The legal range of the parameter `key`; every finite number if the table has no such line.
pub fn range(key: &str) -> (f64, f64) {
    RANGES
        .iter()
        .find(|(name, ..)| *name == key)
        .map_or((f64::MIN, f64::MAX), |&(_, min, max)| (min, max))
}

/// The legal range of the amplitude of P_K: a shared one may be larger than one per position.
pub fn key_bias_range(per_position: bool) -> (f64, f64) {
    range(if per_position { "pk.position" } else { "pk" })
}

/// Number types of a Scene; all are exact in f64 within their legal ranges.
pub trait Number: Copy + std::fmt::Display {
    /// As f64, exactly.
    fn to_f64(self) -> f64;
    /// From an f64 within the type's range; saturates outside it.
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
    /// The nearest legal Scene, and a warning for each changed value. Keys of the warnings are
    /// those of the link. A sanitized Scene does not change a second time.
    #[must_use]
    pub fn sanitize(mut self) -> (Self, Vec<Warning>) {
        let mut fix = Fix::default();
        let plain = Self::default().cjar;

        match &mut self.source {
            Source::MiniLm { layer, .. } => fix.whole("src.layer", layer),
            Source::Synthetic { seq_len, .. } => fix.whole("src.len", seq_len),
        }
        let window = &mut self.window;
        fix.whole("w", &mut window.size);
        fix.optional("left", &mut window.left);
        fix.optional("right", &mut window.right);
        fix.whole("dil", &mut window.dilation);
        fix.whole("sinks", &mut window.sinks);
        fix.whole("globals", &mut window.globals);
        fix.whole("pad", &mut self.padding);
        if let Scale::Free(value) = &mut self.scale {
            fix.real("scale", value, 1.0);
        }
        let cjar = &mut self.cjar;
        fix.optional("seg", &mut cjar.segment);
        let limits = key_bias_range(cjar.p_k.per_position);
        fix.real_within("pk", limits, &mut cjar.p_k.amplitude, plain.p_k.amplitude);
        fix.real("pv", &mut cjar.p_v.amplitude, plain.p_v.amplitude);
        let (s, s0) = (&mut cjar.s, &plain.s);
        fix.real("s", &mut s.amplitude, s0.amplitude);
        fix.real("s.slope", &mut s.slope, s0.slope);
        fix.real("s.decay", &mut s.decay, s0.decay);
        fix.real("s.wave", &mut s.wave, s0.wave);
        fix.real("s.period", &mut s.period, s0.period);
        fix.real("s.bump", &mut s.bump, s0.bump);
        fix.real("s.at", &mut s.at, s0.at);
        fix.real("s.width", &mut s.width, s0.width);
        fix.optional("rho", &mut cjar.score_rank);
        fix.optional("r", &mut cjar.out_rank);

        fix.optional("head", &mut self.view.head);
        if let Some(rect) = &mut self.view.rect {
            fix.rect(rect);
        }
        if let Some((row, col)) = &mut self.view.cell {
            fix.whole("cell.at", row);
            fix.whole("cell.at", col);
        }
        let mut show = Vec::with_capacity(self.show.len().min(8));
        for control in std::mem::take(&mut self.show) {
            if show.contains(&control) {
                fix.note("show", control.word(), Reason::Repeated);
            } else {
                show.push(control);
            }
        }
        self.show = show;
        (self, fix.warnings)
    }
}

/// Clamps numbers to their ranges and records each change.
#[derive(Default)]
struct Fix {
    warnings: Vec<Warning>,
}

impl Fix {
    fn note(&mut self, key: &str, value: &str, reason: Reason) {
        self.warnings.push(Warning::new(key, value, reason));
    }

    fn whole<T: Number>(&mut self, key: &str, value: &mut T) {
        self.within(key, range(key), value);
    }

    fn within<T: Number>(&mut self, key: &str, (min, max): (f64, f64), value: &mut T) {
        let given = value.to_f64();
        if !(min..=max).contains(&given) {
            self.note(key, &value.to_string(), Reason::OutOfRange { min, max });
            *value = T::from_f64(given.clamp(min, max));
        }
    }

    fn optional<T: Number>(&mut self, key: &str, value: &mut Option<T>) {
        if let Some(value) = value {
            self.whole(key, value);
        }
    }

    /// NaN becomes `default`, an infinity the nearer end, −0 becomes 0 (so that equal Scenes have
    /// equal links).
    fn real(&mut self, key: &str, value: &mut f32, default: f32) {
        self.real_within(key, range(key), value, default);
    }

    fn real_within(&mut self, key: &str, limits: (f64, f64), value: &mut f32, default: f32) {
        if value.is_nan() {
            self.note(key, "NaN", Reason::NotANumber);
            *value = default;
        }
        self.within(key, limits, value);
        *value += 0.0;
    }

    /// A rectangle cannot extend past the longest sequence.
    fn rect(&mut self, rect: &mut Rect) {
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
