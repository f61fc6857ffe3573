//! The words for choices in links and in controls. They are part of the link format: a published
//! word never changes.

use super::{
    BiasShape, ColorScale, Control, Convention, LessonId, Mechanism, Panel, Passage, Pattern,
    Quantity, Range, Theme,
};
use attnscope_attention::config::{FullyMasked, Reading};

/// A choice between named values.
pub trait Word: Copy + PartialEq + 'static {
    /// Every value with its word, in the order of the controls.
    const WORDS: &'static [(Self, &'static str)];

    /// The word of this value.
    fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(value, _)| *value == self)
            .map_or("", |&(_, word)| word)
    }

    /// The value of a word, if there is one.
    fn from_word(text: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(_, word)| *word == text)
            .map(|&(value, _)| value)
    }
}

macro_rules! words {
    ($($t:ident { $($value:ident = $word:literal),* $(,)? })*) => {$(
        impl Word for $t {
            const WORDS: &'static [(Self, &'static str)] = &[$((Self::$value, $word)),*];
        }

        // Fails to compile when a value has no word.
        const _: fn($t) = |value| match value { $($t::$value => (),)* };
    )*};
}

words! {
    Passage { Sentence = "sentence", Paragraph = "paragraph", Page = "page" }
    Pattern {
        Random = "random", Repeated = "repeated", Local = "local", LongRange = "longrange",
    }
    Mechanism { Full = "full", Window = "window", Cjar = "cjar" }
    Convention {
        Distance = "distance",
        CausalDistance = "causal_distance",
        CausalCount = "causal_count",
        Longformer = "longformer",
        Explicit = "explicit",
    }
    Reading { Softmax = "softmax", Bias = "bias", Product = "product" }
    FullyMasked { Zero = "zero", Mean = "mean" }
    BiasShape {
        Normal = "normal", Xavier = "xavier", Sinusoidal = "sinusoidal", OneHot = "onehot",
    }
    Quantity { Weights = "weights", Score = "score" }
    Range { Auto = "auto", Unit = "unit" }
    ColorScale { Linear = "linear", Sqrt = "sqrt", Log = "log" }
    Panel { Cell = "cell", Output = "output", Cost = "cost" }
    Theme { Light = "light", Dark = "dark" }
    LessonId {
        Full = "full",
        Window = "window",
        Sink = "sink",
        Bias = "bias",
        Signed = "signed",
        Rank = "rank",
        Partial = "partial",
        Cjar = "cjar",
    }
    Control {
        Source = "source",
        Heads = "heads",
        Mechanism = "mechanism",
        Window = "window",
        Bias = "bias",
        Rank = "rank",
        View = "view",
    }
}

/// `false` and `true` are written 0 and 1.
impl Word for bool {
    const WORDS: &'static [(Self, &'static str)] = &[(false, "0"), (true, "1")];
}
