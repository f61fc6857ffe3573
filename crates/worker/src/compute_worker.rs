//! CPU work that takes longer than a frame: the SVD, the summary of a head, synthetic layers, large
//! biases. Plain data in, plain data out.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use attnscope_attention::layer::{Input, Layer, Linear, Output, Tensor};
use attnscope_attention::low_rank;
use attnscope_attention::project::{Projected, project};
use attnscope_attention::reference::{Head, HeadFactors};
use attnscope_attention::summary;
use attnscope_data::{minilm, synthetic};
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{Scene, Source};

use super::bias_chunks::BiasChunks;
use super::blobs::{Blob, BlobWriter, CHUNK};
use super::codec::{decode, encode};
use super::compute_protocol::{
    ComputeRequest, ComputeResponse, HeadMessage, KEPT_LAYERS, MAX_SUMMARY_LEN, OutFactorsMessage,
    ScoreFactorsMessage,
};

struct Kept {
    id: u64,
    layer: Layer,
    projected: Vec<Option<Rc<Projected>>>,
}

/// The worker's state: its layers, newest last, and a bias that is not yet handed out completely.
#[derive(Default)]
pub struct ComputeWorker {
    layers: VecDeque<Kept>,
    bias: BiasChunks,
}

impl ComputeWorker {
    /// Answers the bytes of a [`ComputeRequest`] with those of a [`ComputeResponse`].
    pub fn answer(&mut self, request: &[u8], blobs: &[Blob]) -> (Vec<u8>, Vec<Blob>) {
        let mut out = BlobWriter::default();
        let response = decode(request)
            .map_err(text)
            .and_then(|request| self.respond(request, blobs, &mut out))
            .unwrap_or_else(ComputeResponse::Failed);
        (encode(&response), out.into_blobs())
    }

    fn respond(
        &mut self,
        request: ComputeRequest,
        blobs: &[Blob],
        out: &mut BlobWriter,
    ) -> Result<ComputeResponse, String> {
        Ok(match request {
            ComputeRequest::Layer { id, scene } => self.take_in(id, &parsed(&scene), blobs, out)?,
            ComputeRequest::Chunk { layer, at } => {
                let Input::Heads { q, k, v } = &self.layer(layer)?.layer.input else {
                    return Err("numbers are missing".into());
                };
                let each = q.data.len().div_ceil(CHUNK).max(1);
                let tensor = [q, k, v].get(at / each).copied();
                let chunk = tensor.and_then(|t| t.data.chunks(CHUNK).nth(at % each));
                out.floats(chunk.ok_or("numbers are missing")?);
                ComputeResponse::Chunk
            }
            ComputeRequest::OutFactors { layer } => match &self.layer(layer)?.layer.output {
                Output::Full(linear) => {
                    let factors = low_rank::out_factors(&linear.weight).map_err(text)?;
                    ComputeResponse::OutFactors(OutFactorsMessage::new(&factors, out))
                }
                _ => return Err("the layer has no W_O".into()),
            },
            ComputeRequest::ScoreFactors { layer, scene } => {
                let layer = &self.layer(layer)?.layer;
                let biases = parsed(&scene).biases(Sizes::from(layer));
                let factors = low_rank::score_factors(layer, &biases).map_err(text)?;
                ComputeResponse::ScoreFactors(ScoreFactorsMessage::new(&factors, out))
            }
            ComputeRequest::BiasChunk {
                sizes,
                at,
                of,
                scene,
            } => {
                let chunk = self.bias.chunk(of, &parsed(&scene).cjar, sizes, at);
                out.bytes(chunk.map_err(text)?);
                ComputeResponse::Chunk
            }
            ComputeRequest::Summary { layer, scene } => {
                let kept = self.layer(layer)?;
                if kept.layer.seq_len > MAX_SUMMARY_LEN {
                    return Ok(ComputeResponse::Summary(None));
                }
                let scene = parsed(&scene);
                let row = scene.cell(kept.layer.seq_len).map(|(row, _)| row);
                let head = kept.head(&scene)?;
                let facts = summary::summarize_head(&head, row).map_err(text)?;
                ComputeResponse::Summary(Some(facts))
            }
            ComputeRequest::Head {
                layer,
                head,
                factors,
            } => {
                let kept = self.layer(layer)?;
                let projected = kept.projected(head)?;
                let factors = factors.map(|scene| {
                    let p_k = parsed(&scene).biases(Sizes::from(&kept.layer)).p_k;
                    HeadFactors::new(&projected, p_k.as_ref(), head, kept.layer.head_dim)
                });
                let factors = factors.transpose().map_err(text)?;
                ComputeResponse::Head(HeadMessage::new(&projected, factors.as_ref(), out))
            }
        })
    }

    fn take_in(
        &mut self,
        id: u64,
        scene: &Scene,
        blobs: &[Blob],
        out: &mut BlobWriter,
    ) -> Result<ComputeResponse, String> {
        let (layer, response) = match (&scene.source, blobs) {
            (Source::MiniLm { layer, .. }, [hidden, qk, vo]) => {
                let named = minilm::assemble(*layer, hidden, qk, vo).map_err(text)?;
                (named.layer, ComputeResponse::Layer)
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
                let Output::Full(linear) = &made.layer.output else {
                    return Err("a synthetic layer has one W_O".into());
                };
                let response = ComputeResponse::Synthetic {
                    tokens: made.tokens,
                    w_o: out.tensor(&linear.weight),
                };
                (made.layer, response)
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
        Ok(response)
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

/// The synthetic layer that a worker made, assembled from its tensors.
///
/// # Errors
/// When q, k, v `[H, L, d_h]` or W_O `[d, d]` do not have the shapes of such a layer of `seq_len`
/// tokens.
pub fn synthetic_layer(
    id: u64,
    seq_len: usize,
    heads: [Arc<[f32]>; 3],
    w_o: Tensor,
) -> Result<Layer, String> {
    let [q, k, v] = heads.map(|data| Tensor {
        shape: vec![synthetic::HEADS, seq_len, synthetic::HEAD_DIM],
        data,
    });
    let layer = Layer {
        id,
        heads: synthetic::HEADS,
        seq_len,
        head_dim: synthetic::HEAD_DIM,
        input: Input::Heads { q, k, v },
        output: Output::Full(Linear {
            weight: w_o,
            bias: None,
        }),
        mask: None,
        preview_of: None,
    };
    layer.check().map_err(text)?;
    Ok(layer)
}

fn parsed(link: &str) -> Scene {
    Scene::from_fragment(link).scene
}

#[allow(clippy::needless_pass_by_value)] // the shape that map_err wants
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
