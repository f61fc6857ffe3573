//! Everything the reader can change, as plain data. A permalink, an embed attribute, a message
//! from a host page, an undo step and a test are all a [`Scene`].

pub mod bias_tensor;
mod cjar;
pub mod code;
pub mod key_count;
pub mod keys;
mod lang;
mod limits;
mod link_values;
pub mod link_words;
pub mod listing;
pub mod permalink;
pub mod presets;
pub mod resolve;
pub mod sanitize;
mod view;
pub mod warning;

use serde::{Deserialize, Serialize};

use attnscope_attention::config::FullyMasked;

pub use cjar::{Bias, BiasShape, Cjar, Curve};
pub use lang::Lang;
pub use view::{ColorScale, FIRST_HEAD, Panel, Quantity, Range, Rect, View};

/// Everything the reader can change, and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scene {
    /// Where q, k, v come from.
    pub source: Source,
    /// Whether W_Q, W_K and W_V are applied; if not, q = k = v = X split into heads.
    pub projected: bool,
    /// Which of the three mechanisms.
    pub mechanism: Mechanism,
    /// No key after the query; applies to every mechanism.
    pub causal: bool,
    /// The window; applies to `Window`, and to `Cjar` if `windowed`.
    pub window: Window,
    /// CJAR inside the window.
    pub windowed: bool,
    /// Number of padding tokens at the end, which no query sees; applies to every mechanism.
    pub padding: u32,
    /// What a fully masked row gets; applies to every mechanism.
    pub empty: FullyMasked,
    /// The factor of q·k'.
    pub scale: Scale,
    /// What CJAR adds; applies only to `Cjar`.
    pub cjar: Cjar,
    /// What is on screen.
    pub view: View,
    /// Language; `None` follows `?lang=`, then the browser.
    pub lang: Option<Lang>,
    /// Theme; `None` follows the host page, then the system.
    pub theme: Option<Theme>,
    /// Starter scene that this Scene started from, if any: its title and text are shown beside the
    /// map.
    pub lesson: Option<LessonId>,
    /// Embed: the visible controls. Empty = those of the mechanism.
    pub show: Vec<Control>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            source: Source::default(),
            projected: true,
            mechanism: Mechanism::default(),
            causal: false,
            window: Window::default(),
            windowed: false,
            padding: 0,
            empty: FullyMasked::default(),
            scale: Scale::default(),
            cjar: Cjar::default(),
            view: View::default(),
            lang: None,
            theme: None,
            lesson: None,
            show: Vec::new(),
        }
    }
}

/// Where a layer comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A shipped layer of all-MiniLM-L6-v2.
    MiniLm {
        /// Which text.
        #[serde(default)]
        text: Passage,
        /// 0–5.
        #[serde(default = "default_layer")]
        layer: u8,
    },
    /// Seeded numbers; the same on every platform.
    Synthetic {
        /// Structure of the sequence.
        #[serde(default)]
        pattern: Pattern,
        /// L, 1 ..= [`MAX_SEQ_LEN`].
        #[serde(default = "default_seq_len")]
        seq_len: u32,
        /// Seed.
        #[serde(default = "default_seed")]
        seed: u32,
    },
}

/// The longest sequence of a synthetic source.
pub const MAX_SEQ_LEN: u32 = 65_536;

/// The default layer of a text.
const fn default_layer() -> u8 {
    1
}

/// The default length of a synthetic sequence.
const fn default_seq_len() -> u32 {
    64
}

/// The default seed of a synthetic sequence.
const fn default_seed() -> u32 {
    1
}

impl Default for Source {
    fn default() -> Self {
        Self::MiniLm {
            text: Passage::Sentence,
            layer: default_layer(),
        }
    }
}

/// The shipped texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Passage {
    /// 24 tokens.
    #[default]
    Sentence,
    /// 120 tokens.
    Paragraph,
    /// 512 tokens.
    Page,
}

/// Structure of a synthetic sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Independent normal numbers.
    #[default]
    Random,
    /// A short list of tokens, repeated: equal tokens find each other.
    Repeated,
    /// Neighbours resemble each other.
    Local,
    /// Each token resembles one far away.
    LongRange,
}

/// The three mechanisms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// Every token sees every token.
    #[default]
    Full,
    /// Every token sees its neighbourhood.
    Window,
    /// The CJAR text: biases, segments, ranks.
    Cjar,
}

/// How the number w becomes (left, right) (SPEC 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Convention {
    /// (w, w).
    #[default]
    Distance,
    /// (w, 0), causal.
    CausalDistance,
    /// (w − 1, 0), causal.
    CausalCount,
    /// (⌊w/2⌋, ⌊w/2⌋).
    Longformer,
    /// (left, right) as given.
    Explicit,
}

/// The window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Window {
    /// Meaning of w.
    pub convention: Convention,
    /// Window size w.
    pub size: u32,
    /// Explicit reach to the left; `None` is unlimited.
    pub left: Option<i32>,
    /// Explicit reach to the right; `None` is unlimited.
    pub right: Option<i32>,
    /// Only offsets divisible by this; ≥ 1.
    pub dilation: u32,
    /// The first `sinks` keys are visible to every query.
    pub sinks: u32,
    /// The first `globals` tokens see every token, and every token sees them.
    pub globals: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            convention: Convention::Distance,
            size: 2,
            left: Some(2),
            right: Some(2),
            dilation: 1,
            sinks: 0,
            globals: 0,
        }
    }
}

/// The factor of q·k' (SPEC 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// 1/√d_h.
    #[default]
    HeadDim,
    /// 1/√d, as in the first listing.
    ModelDim,
    /// A free value.
    Free(f32),
}

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// The starter scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LessonId {
    /// What full attention shows.
    Full,
    /// What a window cuts off.
    Window,
    /// What a sink gives back.
    Sink,
    /// A bias that changes nothing, and one that does.
    Bias,
    /// The literal formula, with negative weights.
    Signed,
    /// What W_O can spare.
    Rank,
    /// Partial attention as its listing computes it.
    Partial,
    /// CJAR as its listing computes it.
    Cjar,
}

/// Controls that an embed may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Source, layer.
    Source,
    /// Strip of heads.
    Heads,
    /// Mechanism.
    Mechanism,
    /// Window size and convention.
    Window,
    /// CJAR biases.
    Bias,
    /// Ranks.
    Rank,
    /// Weights or score.
    View,
}
