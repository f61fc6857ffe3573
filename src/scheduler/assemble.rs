//! Turns Scene and layer into the Frame that the engine draws. Costly parts are cached or computed
//! by the worker.

use std::sync::Arc;

use leptos::task::spawn_local;

use crate::layout::extent::output_texels;
use crate::layout::strip::StripGrid;
use crate::scheduler::Later;
use crate::scheduler::biases::KeptBiases;
use crate::scheduler::canvases::{CanvasSlot, Canvases};
use crate::scheduler::views::{colors, map_view, strip_view};
use crate::state::LoadedLayer;
use crate::workers::compute_client::ComputeClient;
use attnscope_attention::config::Config;
use attnscope_attention::layer::{Layer, Output, fresh_id};
use attnscope_data::minilm;
use attnscope_engine::{ColorTable, Frame, OutFactors, OutputView, ScoreFactors};
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{Bias, Scene};
use attnscope_worker::Latest;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};

/// Makes Frames.
pub struct Assembler {
    compute: ComputeClient,
    biases: KeptBiases,
    out: Later<Latest<u64, Arc<OutFactors>>>,
    score: Later<Latest<(u64, Bias), Arc<ScoreFactors>>>,
    told_sigma: Option<u64>,
}

impl Assembler {
    /// An assembler whose costly parts `compute` computes.
    pub fn new(compute: ComputeClient, biases: KeptBiases) -> Self {
        Self {
            compute,
            biases,
            out: Later::default(),
            score: Later::default(),
            told_sigma: None,
        }
    }

    /// The compute worker's client.
    pub fn compute(&self) -> &ComputeClient {
        &self.compute
    }

    /// Repeats the requests that got no answer.
    pub fn ask_again(&self) {
        self.out.borrow_mut().retry();
        self.score.borrow_mut().retry();
    }

    /// A request is pending without which there is no Frame.
    pub fn waits(&self) -> bool {
        self.biases.waits() || self.score.borrow().waits()
    }

    /// The Frame of `scene`, or `None` while something that it needs is on its way.
    pub fn frame(
        &self,
        scene: &Scene,
        loaded: &LoadedLayer,
        canvases: &Canvases,
        grid: StripGrid,
    ) -> Option<Frame> {
        let layer = &loaded.layer;
        let sizes = Sizes::from(&**layer);
        let head = match layer.preview_of {
            Some(only) => (only == scene.head(minilm::HEADS)).then_some(0)?,
            None => scene.head(sizes.heads),
        };
        let config = scene.config(sizes);
        let biases = self.biases.of(scene, layer)?;
        let score_factors = match config.score_rank {
            Some(_) => Some(self.score_factors(scene, layer)?),
            None => None,
        };
        if config.out_rank.is_some() && layer.preview_of.is_none() {
            // The sentence is about the rank even where the output is not on screen.
            self.ask_out(layer);
        }
        let output = self.output_view(layer, &config, canvases);
        let out_factors = output.as_ref().and_then(|_| self.out_factors(layer));
        Some(Frame {
            layer: layer.clone(),
            map: map_view(scene, sizes, head, canvases),
            strip: (layer.preview_of.is_none())
                .then(|| strip_view(scene, sizes, canvases, grid))
                .flatten(),
            config,
            biases,
            score_factors,
            out_factors,
            output,
        })
    }

    /// σ of W_O, once after it has become known.
    pub fn take_sigma(&mut self) -> Option<Arc<[f32]>> {
        let out = self.out.borrow();
        let factors = out.last()?;
        (self.told_sigma != Some(factors.id)).then(|| {
            self.told_sigma = Some(factors.id);
            factors.sigma.clone()
        })
    }

    fn output_view(
        &self,
        layer: &Layer,
        config: &Config,
        canvases: &Canvases,
    ) -> Option<OutputView> {
        let (width, height) = canvases.size(CanvasSlot::Output)?;
        if layer.preview_of.is_some() {
            return None;
        }
        // Without the factors, the truncated output cannot be drawn.
        let ready = config.out_rank.is_none() || self.out.borrow().get(&layer.id).is_some();
        if !ready {
            return None;
        }
        let cells = (layer.seq_len as u32, layer.model_dim() as u32);
        let (texel_rows, texel_cols) = output_texels(cells, width, height);
        Some(OutputView {
            texel_rows,
            texel_cols,
            colors: colors(ColorTable::Diverging, canvases),
        })
    }

    fn out_factors(&self, layer: &Layer) -> Option<Arc<OutFactors>> {
        let there = self.out.borrow().get(&layer.id).cloned();
        if there.is_none() {
            self.ask_out(layer);
        }
        there
    }

    fn ask_out(&self, layer: &Layer) {
        if !matches!(layer.output, Output::Full(_)) {
            return;
        }
        let id = layer.id;
        if !self.out.borrow_mut().supersede(&id) {
            return;
        }
        let (compute, out) = (self.compute.clone(), self.out.clone());
        spawn_local(async move {
            let request = ComputeRequest::OutFactors { layer: id };
            let factors = match compute.ask(&request, Vec::new()).await {
                Ok((ComputeResponse::OutFactors(factors), mut blobs)) => {
                    factors.read(fresh_id(), &mut blobs).ok()
                }
                _ => None,
            };
            let came = factors.is_some();
            if out.borrow_mut().answer(&id, factors.map(Arc::new)) && came {
                crate::scheduler::changed();
            }
        });
    }

    /// q̃ and k̃ for the Scene's P_K. One request at a time; the newest is sent when the last is
    /// answered.
    fn score_factors(&self, scene: &Scene, layer: &Layer) -> Option<Arc<ScoreFactors>> {
        if layer.preview_of.is_some() {
            return None;
        }
        let mut p_k = scene.cjar.p_k.clone();
        if p_k.amplitude == 0.0 {
            p_k = Bias::default();
        }
        let key = (layer.id, p_k);
        let mut score = self.score.borrow_mut();
        if let Some(factors) = score.get(&key) {
            return Some(factors.clone());
        }
        if score.want(&key) {
            let (compute, score) = (self.compute.clone(), self.score.clone());
            let request = ComputeRequest::ScoreFactors {
                layer: layer.id,
                scene: scene.to_fragment(),
            };
            spawn_local(async move {
                let factors = match compute.ask(&request, Vec::new()).await {
                    Ok((ComputeResponse::ScoreFactors(factors), mut blobs)) => {
                        factors.read(fresh_id(), &mut blobs).ok()
                    }
                    _ => None,
                };
                // Drops an answer for an older P_K and requests the newest.
                score.borrow_mut().answer(&key, factors.map(Arc::new));
                crate::scheduler::changed();
            });
        }
        None
    }
}
