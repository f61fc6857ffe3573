//! The calculator: everything on the CPU that takes longer than a frame. Runs in the worker, or on
//! the main thread where no worker can be had. Plain data in, plain data out.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use crate::attention::layer::{Input, Layer, Linear, Output, Tensor};
use crate::attention::low_rank;
use crate::attention::project::{Projected, project};
use crate::attention::reference::Head;
use crate::attention::summary;
use crate::data::{minilm, synthetic};
use crate::scene::resolve::{self, Sizes};
use crate::scene::{Scene, Source};

/// Layers that the calculator keeps; the page shows one at a time and may go back to the last.
const KEPT_LAYERS: usize = 2;
/// Numbers of a tensor that travel at once: 4 MB, a few milliseconds.
pub const PIECE: usize = 1 << 20;
/// Beyond this L the facts of a whole head would keep the calculator busy for seconds.
pub const MAX_SUMMARY_LEN: usize = 2048;

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
    /// The numbers of a dense s at amplitude 1, `[H, L, L]` as f32.
    Dense {
        /// Which layer.
        id: u64,
        /// Link of the Scene whose seed counts.
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
    /// Draw the Frame of the blobs ([`Wire`](crate::engine::cpu::wire::Wire)). Answered as
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
            Self::Dense { id, scene } => format!("dense {id} {scene}"),
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
            "dense" => Self::Dense { id, scene },
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

struct Kept {
    id: u64,
    layer: Layer,
    projected: Vec<Option<Rc<Projected>>>,
}

/// Layers taken in, newest last.
#[derive(Default)]
pub struct Calculator {
    layers: VecDeque<Kept>,
}

impl Calculator {
    /// Answers one question.
    pub fn answer(&mut self, ask: &Ask, blobs: &[Blob]) -> (Answer, Vec<Blob>) {
        self.try_answer(ask, blobs)
            .unwrap_or_else(|why| (Answer::Failed(why), Vec::new()))
    }

    fn try_answer(&mut self, ask: &Ask, blobs: &[Blob]) -> Result<(Answer, Vec<Blob>), String> {
        match ask {
            Ask::Layer { id, scene } => self.take_in(*id, &parsed(scene), blobs),
            Ask::Piece { id, at } => {
                let Input::Heads { q, k, v } = &self.layer(*id)?.layer.input else {
                    return Err("numbers are missing".into());
                };
                let each = q.data.len().div_ceil(PIECE).max(1);
                let tensor = [q, k, v].get(at / each).copied();
                let piece = tensor.and_then(|t| t.data.chunks(PIECE).nth(at % each));
                let piece = piece.ok_or("numbers are missing")?;
                Ok((Answer::Done, vec![bytes(piece)]))
            }
            Ask::OutFactors { id } => match &self.layer(*id)?.layer.output {
                Output::Full(linear) => {
                    let factors = low_rank::out_factors(&linear.weight).map_err(text)?;
                    let blobs = [&factors.w_1.data, &factors.w_2.data, &factors.sigma];
                    Ok((Answer::Done, blobs.map(|data| bytes(data)).to_vec()))
                }
                _ => Err("the layer has no W_O".into()),
            },
            Ask::ScoreFactors { id, scene } => {
                let layer = &self.layer(*id)?.layer;
                let biases = parsed(scene).biases(Sizes::from(layer));
                let factors = low_rank::score_factors(layer, &biases).map_err(text)?;
                let width = factors.q.shape.last().copied().unwrap_or(0);
                let blobs = vec![bytes(&factors.q.data), bytes(&factors.k.data)];
                Ok((Answer::Width(width), blobs))
            }
            Ask::Dense { id, scene } => {
                let sizes = Sizes::from(&self.layer(*id)?.layer);
                if !sizes.dense_fits() {
                    return Err("numbers are missing".into());
                }
                let unit = resolve::dense_unit(parsed(scene).cjar.s.seed, sizes);
                Ok((Answer::Done, vec![bytes(&unit.data)]))
            }
            Ask::Summary { id, scene } => {
                let kept = self.layer(*id)?;
                if kept.layer.seq_len > MAX_SUMMARY_LEN {
                    return Ok((Answer::Done, Vec::new()));
                }
                let head = kept.head(&parsed(scene))?;
                let facts = summary::summarize_head(&head).map_err(text)?;
                let numbers = bytemuck::cast_slice(&facts.to_numbers()).to_vec();
                Ok((Answer::Done, vec![numbers]))
            }
            Ask::Head { id, head } => {
                let projected = self.layer(*id)?.projected(*head)?;
                let blobs = vec![
                    bytemuck::cast_slice(&projected.q).to_vec(),
                    bytemuck::cast_slice(&projected.k).to_vec(),
                ];
                Ok((Answer::Done, blobs))
            }
            Ask::Draw | Ask::Step | Ask::Map => Err("that is the CPU engine's".into()),
        }
    }

    fn take_in(
        &mut self,
        id: u64,
        scene: &Scene,
        blobs: &[Blob],
    ) -> Result<(Answer, Vec<Blob>), String> {
        let (layer, answer, out) = match (&scene.source, blobs) {
            (Source::MiniLm { layer, .. }, [hidden, qk, vo]) => {
                let named = minilm::assemble(*layer, hidden, qk, vo).map_err(text)?;
                (named.layer, Answer::Done, Vec::new())
            }
            (Source::MiniLm { .. }, _) => return Err("three files make a layer".into()),
            (
                Source::Synthetic {
                    pattern,
                    seq_len,
                    seed,
                },
                _,
            ) => {
                let made = synthetic::synthetic(*pattern, *seq_len as usize, *seed, id);
                let out = match &made.layer.output {
                    Output::Full(linear) => vec![bytes(&linear.weight.data)],
                    _ => Vec::new(),
                };
                (made.layer, Answer::Tokens(made.tokens), out)
            }
        };
        let heads = layer.heads;
        self.layers.push_back(Kept {
            id,
            layer: scene.taken(layer),
            projected: vec![None; heads],
        });
        while self.layers.len() > KEPT_LAYERS {
            self.layers.pop_front();
        }
        Ok((answer, out))
    }

    fn layer(&mut self, id: u64) -> Result<&mut Kept, String> {
        self.layers
            .iter_mut()
            .find(|kept| kept.id == id)
            .ok_or_else(|| "the layer was not taken in".to_owned())
    }
}

impl Kept {
    /// q, k, v of one head, computed once.
    fn projected(&mut self, head: usize) -> Result<Rc<Projected>, String> {
        let slot = self
            .projected
            .get_mut(head)
            .ok_or("there is no such head")?;
        Ok(slot
            .get_or_insert_with(|| Rc::new(project(&self.layer, head)))
            .clone())
    }

    fn head(&mut self, scene: &Scene) -> Result<Head, String> {
        let sizes = Sizes::from(&self.layer);
        let head = scene.head(sizes.heads);
        let projected = self.projected(head)?;
        let (config, biases) = (scene.config(sizes), scene.biases(sizes));
        Head::from_projected(&self.layer, &projected, &config, &biases, head).map_err(text)
    }
}

/// A synthetic layer of `seq_len` tokens from q, k, v and the blobs of its answer.
///
/// # Errors
/// When these are not of such a layer.
pub fn synthetic_layer(
    id: u64,
    seq_len: usize,
    heads: [Arc<[f32]>; 3],
    blobs: &[Blob],
) -> Result<Layer, String> {
    let [w_o] = blobs else {
        return Err("a synthetic layer has one W_O".into());
    };
    let [q, k, v] = heads.map(|data| Tensor {
        shape: vec![synthetic::HEADS, seq_len, synthetic::HEAD_DIM],
        data,
    });
    let weight = tensor(&[synthetic::MODEL_DIM, synthetic::MODEL_DIM], w_o)?;
    Ok(Layer {
        id,
        heads: synthetic::HEADS,
        seq_len,
        head_dim: synthetic::HEAD_DIM,
        input: Input::Heads { q, k, v },
        output: Output::Full(Linear { weight, bias: None }),
        mask: None,
        preview_of: None,
    })
}

/// A tensor of `shape` from the bytes of f32 numbers.
///
/// # Errors
/// When there are not as many numbers as the shape says.
pub fn tensor(shape: &[usize], blob: &Blob) -> Result<Tensor, String> {
    Tensor::new(shape, floats(blob)).map_err(|_| "numbers are missing".to_owned())
}

/// f32 numbers of a blob.
pub fn floats(blob: &Blob) -> Vec<f32> {
    bytemuck::pod_collect_to_vec(blob)
}

/// f64 numbers of a blob.
pub fn doubles(blob: &Blob) -> Vec<f64> {
    bytemuck::pod_collect_to_vec(blob)
}

/// The bytes of f32 numbers.
pub fn bytes(data: &[f32]) -> Blob {
    bytemuck::cast_slice(data).to_vec()
}

fn parsed(link: &str) -> Scene {
    Scene::from_fragment(link).scene
}

#[allow(clippy::needless_pass_by_value)] // the shape that map_err wants
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
