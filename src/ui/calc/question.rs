//! What the calculator and the CPU engine are asked and answer, as texts with blobs beside them.

use attnscope_scene::resolve::Sizes;
use attnscope_scene::unit::Unit;

/// What the page asks. Scenes travel as links, which lose nothing and are parsed anyway; bulk data
/// travels beside as blobs of bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Take in the layer of `source`; the blobs are its three files (hidden, qk, vo), none for a
    /// synthetic source, whose w_o is answered as f32; [`Ask::Piece`] brings the rest.
    Layer {
        /// Identity of the layer on the page.
        id: u64,
        /// Link of a Scene with this source.
        scene: String,
    },
    /// A piece of a large tensor, so that no thread copies more than [`PIECE`] numbers at once. The
    /// calculator answers piece `at` of q, k and v of layer `id`, each tensor with pieces of its own.
    /// The CPU engine takes the blob in, as piece `at` of tensor `id` of the Frame that comes next.
    Piece {
        /// Which layer, or which tensor.
        id: u64,
        /// Which piece.
        at: usize,
    },
    /// W_1, W_2 and σ of W_O. Answer blobs: w_1, w_2, σ as f32.
    OutFactors {
        /// Which layer.
        id: u64,
    },
    /// q̃ and k̃ of all heads under the Scene's P_K. Answer blobs as f32, each `[H, L, n]`.
    ScoreFactors {
        /// Which layer.
        id: u64,
        /// Link of the Scene whose P_K counts.
        scene: String,
    },
    /// Piece `at` of the numbers of a bias at amplitude 1, as f32. The calculator makes them for
    /// the first piece and keeps them until the last, or until a piece is asked for that is none.
    Unit {
        /// H, L, d_h.
        sizes: Sizes,
        /// Which piece, of [`PIECE`](super::PIECE) numbers.
        at: usize,
        /// Which bias.
        of: Unit,
        /// Link of the Scene whose shape and seed count.
        scene: String,
    },
    /// Facts of the Scene's head. The answer blob is
    /// [`Summary::to_numbers`](summary::Summary::to_numbers); none beyond [`MAX_SUMMARY_LEN`].
    Summary {
        /// Which layer.
        id: u64,
        /// Link of the Scene.
        scene: String,
    },
    /// q and k of one head. Answer blobs as f64, each `[L, d_h]`.
    Head {
        /// Which layer.
        id: u64,
        /// Which head.
        head: usize,
    },
    /// Draw the Frame of the blobs ([`Wire`](attnscope_engine_cpu::wire::Wire)). Answered as
    /// [`Drawn`](super::painter::Drawn).
    Draw,
    /// Do one more piece of what is left of it. Answered alike.
    Step,
    /// The values of its large map. Answer blobs as f32: rows and columns, values, shares.
    Map,
}

/// What the calculator answers; blobs beside it as [`Ask`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Done; what was asked for is in the blobs.
    Done,
    /// Labels of a synthetic layer's tokens; its tensors are in the blobs.
    Tokens(Vec<String>),
    /// Width n of the factors in the blobs.
    Width(usize),
    /// Could not be done, and why.
    Failed(String),
}

impl Ask {
    /// The question as text: its name, the layer, the rest.
    pub fn to_text(&self) -> String {
        match self {
            Self::Layer { id, scene } => format!("layer {id} {scene}"),
            Self::Piece { id, at } => format!("piece {id} {at}"),
            Self::OutFactors { id } => format!("out {id} "),
            Self::ScoreFactors { id, scene } => format!("score {id} {scene}"),
            Self::Unit {
                sizes,
                at,
                of,
                scene,
            } => {
                let (heads, len, dim) = (sizes.heads, sizes.seq_len, sizes.head_dim);
                format!("unit {at} {heads} {len} {dim} {} {scene}", of.name())
            }
            Self::Summary { id, scene } => format!("summary {id} {scene}"),
            Self::Head { id, head } => format!("head {id} {head}"),
            Self::Draw => "draw 0 ".to_owned(),
            Self::Step => "step 0 ".to_owned(),
            Self::Map => "map 0 ".to_owned(),
        }
    }

    /// The question of a text; `None` when it is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(' ')?;
        let (id, rest) = rest.split_once(' ')?;
        let (id, scene) = (id.parse().ok()?, rest.to_owned());
        Some(match name {
            "layer" => Self::Layer { id, scene },
            "piece" => Self::Piece {
                id,
                at: rest.parse().ok()?,
            },
            "out" => Self::OutFactors { id },
            "score" => Self::ScoreFactors { id, scene },
            "unit" => {
                let mut words = rest.splitn(5, ' ');
                let mut number = || words.next()?.parse().ok();
                let sizes = Sizes {
                    heads: number()?,
                    seq_len: number()?,
                    head_dim: number()?,
                };
                Self::Unit {
                    sizes,
                    at: usize::try_from(id).ok()?,
                    of: Unit::named(words.next()?)?,
                    scene: words.next()?.to_owned(),
                }
            }
            "summary" => Self::Summary { id, scene },
            "head" => Self::Head {
                id,
                head: rest.parse().ok()?,
            },
            "draw" => Self::Draw,
            "step" => Self::Step,
            "map" => Self::Map,
            _ => return None,
        })
    }
}

impl Answer {
    /// The answer as text: its name, the rest. Tokens hold no line breaks.
    pub fn to_text(&self) -> String {
        match self {
            Self::Done => "done ".to_owned(),
            Self::Tokens(tokens) => format!("tokens {}", tokens.join("\n")),
            Self::Width(width) => format!("width {width}"),
            Self::Failed(why) => format!("failed {why}"),
        }
    }

    /// The answer of a text; `None` when it is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(' ')?;
        Some(match name {
            "done" => Self::Done,
            "tokens" => Self::Tokens(rest.split('\n').map(str::to_owned).collect()),
            "width" => Self::Width(rest.parse().ok()?),
            "failed" => Self::Failed(rest.to_owned()),
            _ => return None,
        })
    }
}

/// Bytes of a tensor.
pub type Blob = Vec<u8>;
