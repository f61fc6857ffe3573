//! The calculator: everything on the CPU that takes longer than a frame. Runs in the worker, or on
//! the main thread where no worker can be had. Plain data in, plain data out.

mod question;
mod unit;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use attnscope_attention::layer::{Input, Layer, Linear, Output, Tensor};
use attnscope_attention::low_rank;
use attnscope_attention::project::{Projected, project};
use attnscope_attention::reference::Head;
use attnscope_attention::summary;
use attnscope_data::{minilm, synthetic};
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{Scene, Source};

use self::unit::MadeUnit;

pub use self::question::{Answer, Ask, Blob};

/// Layers that the calculator keeps; the page shows one at a time and may go back to the last.
pub const KEPT_LAYERS: usize = 2;
/// Numbers of a tensor that travel at once: 4 MB, a few milliseconds.
pub const PIECE: usize = 1 << 20;
/// Beyond this L the facts of a whole head would keep the calculator busy for seconds.
pub const MAX_SUMMARY_LEN: usize = 2048;

struct Kept {
    id: u64,
    layer: Layer,
    projected: Vec<Option<Rc<Projected>>>,
}

/// Layers taken in, newest last.
#[derive(Default)]
pub struct Calculator {
    layers: VecDeque<Kept>,
    unit: MadeUnit,
}

impl Calculator {
    /// Answers one question.
    pub fn answer(&mut self, ask: &Ask, blobs: &[Rc<Blob>]) -> (Answer, Vec<Blob>) {
        self.try_answer(ask, blobs)
            .unwrap_or_else(|why| (Answer::Failed(why), Vec::new()))
    }

    fn try_answer(&mut self, ask: &Ask, blobs: &[Rc<Blob>]) -> Result<(Answer, Vec<Blob>), String> {
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
            Ask::Unit {
                sizes,
                at,
                of,
                scene,
            } => {
                let piece = self.unit.piece(*of, &parsed(scene).cjar, *sizes, *at)?;
                Ok((Answer::Done, vec![piece]))
            }
            Ask::Summary { id, scene } => {
                let kept = self.layer(*id)?;
                if kept.layer.seq_len > MAX_SUMMARY_LEN {
                    return Ok((Answer::Done, Vec::new()));
                }
                let scene = parsed(scene);
                let row = scene.cell(kept.layer.seq_len).map(|(row, _)| row);
                let head = kept.head(&scene)?;
                let facts = summary::summarize_head(&head, row).map_err(text)?;
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
        blobs: &[Rc<Blob>],
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
