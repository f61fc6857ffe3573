//! Loads the layer of `scene.source`: fetches missing files with progress, can be cancelled, and
//! caches what it has. The newest source wins.

mod fetch;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::AbortController;

use self::fetch::Progress;
use crate::state::problem::Problem;
use crate::state::{AppState, LayerState, LoadedLayer};
use crate::workers::chunks::chunks;
use crate::workers::compute_client::ComputeClient;
use attnscope_attention::layer::fresh_id;
use attnscope_data::minilm::{self, Hidden, Weights};
use attnscope_data::synthetic;
use attnscope_scene::{Mechanism, Scale, Scene, Source};
use attnscope_worker::codec::ProtocolError;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};
use attnscope_worker::compute_worker::synthetic_layer;
use attnscope_worker::{Blob, CHUNK, Latest};

/// A fetched file: name and bytes.
type File = (String, Rc<Blob>);

/// One loader per page.
#[derive(Clone)]
pub struct Loader {
    state: AppState,
    compute: ComputeClient,
    files: Rc<RefCell<Vec<File>>>,
    /// Files that arrived damaged.
    distrusted: Rc<RefCell<Vec<String>>>,
    /// Loads by number; cancelling goes back to the last successful one.
    loads: Rc<RefCell<Latest<u32, (Source, bool)>>>,
    abort: Rc<RefCell<Option<AbortController>>>,
}

impl Loader {
    /// A loader that writes to `state` and sends every layer to `compute`.
    pub fn new(state: AppState, compute: ComputeClient) -> Self {
        Self {
            state,
            compute,
            files: Rc::default(),
            distrusted: Rc::default(),
            loads: Rc::default(),
            abort: Rc::default(),
        }
    }

    /// Loads the layer of `scene` and cancels a load under way.
    pub fn load(&self, scene: &Scene) {
        let run = self.stop();
        let previous = self.state.layer.with_untracked(|l| l.shown().cloned());
        self.state.layer.set(LayerState::Loading {
            done: 0,
            total: None,
            previous,
        });
        let (loader, scene) = (self.clone(), scene.clone());
        spawn_local(async move {
            let result = match scene.source {
                Source::MiniLm { .. } => loader.minilm(&scene, run).await,
                Source::Synthetic { seq_len, .. } => loader.synthetic(&scene, seq_len, run).await,
            };
            if !loader.is_newest(run) {
                return;
            }
            match result {
                Ok(loaded) => {
                    let settled = (scene.source, scene.projected);
                    loader.loads.borrow_mut().answer(&run, Some(settled));
                    loader.state.layer.set(LayerState::Ready(loaded));
                    loader.state.tell(Problem::is_of_file, Vec::new());
                }
                Err(problem) => loader.give_up(problem),
            }
        });
    }

    /// Cancels the load under way and goes back to the source on screen.
    pub fn cancel(&self) {
        self.stop();
        let settled = self.loads.borrow().last().cloned();
        if let Some(settled) = settled {
            self.state
                .change(|scene| (scene.source, scene.projected) = settled);
        } else {
            self.give_up(Problem::LoadCancelled);
        }
    }

    /// Retries a layer that failed to load.
    pub fn retry(&self) {
        let failed = |layer: &LayerState| matches!(layer, LayerState::Failed { .. });
        if self.state.layer.with_untracked(failed) {
            self.state.tell(Problem::is_of_file, Vec::new());
            self.load(&self.state.scene.get_untracked());
        }
    }

    /// Reports a failed load. The last picture stays; its facts, which belong to another Scene, are
    /// cleared.
    fn give_up(&self, problem: Problem) {
        let previous = self.state.layer.with_untracked(|l| l.shown().cloned());
        self.state.layer.set(LayerState::Failed { previous });
        self.state.summary.set(None);
        if problem.is_of_compute_worker() {
            // It may have been reported already.
            self.state.tell(Problem::is_of_compute_worker, Vec::new());
        }
        self.state.tell(Problem::is_of_file, vec![problem]);
    }

    /// Cancels the load under way. Returns the number of the next.
    fn stop(&self) -> u32 {
        let mut loads = self.loads.borrow_mut();
        let run = loads.wanted().map_or(0, |run| run.wrapping_add(1));
        let _ = loads.supersede(&run);
        drop(loads);
        if let Some(abort) = self.abort.borrow_mut().take() {
            abort.abort();
        }
        run
    }

    fn is_newest(&self, run: u32) -> bool {
        self.loads.borrow().is_wanted(&run)
    }

    async fn minilm(&self, scene: &Scene, run: u32) -> Result<LoadedLayer, Problem> {
        let Source::MiniLm { text, layer } = scene.source else {
            return Err(broken("", "not a shipped source"));
        };
        let head = scene.head(minilm::HEADS);
        // A position bias is made for all heads at once, and 1/√d and X split into heads depend on
        // their number: a preview of one head would differ.
        let may_preview = scene.mechanism != Mechanism::Cjar
            && scene.projected
            && scene.scale != Scale::ModelDim
            && self.state.layer.with_untracked(|l| l.shown().is_none());
        if may_preview && (text, layer, head) == minilm::FIRST {
            // If it is missing or damaged, only the head start is lost.
            if let Ok((_, named)) = self.fetch(minilm::FIRST_FILE, None, minilm::first).await {
                self.preview(loaded(named, &scene.source), run);
            }
        }
        let names = minilm::files(text, layer);
        let progress = Progress::new(self, run);
        let parse = |bytes: &[u8]| Hidden::parse(layer, bytes);
        let (x_bytes, hidden) = self.fetch(&names.hidden, Some(&progress), parse).await?;
        let parse = |bytes: &[u8]| Weights::parse_qk(layer, bytes);
        let (qk_bytes, qk) = self.fetch(&names.qk, Some(&progress), parse).await?;
        if may_preview && let Ok(named) = minilm::preview(hidden.clone(), &qk, head) {
            self.preview(loaded(named, &scene.source), run);
        }
        let parse = |bytes: &[u8]| Weights::parse_vo(layer, bytes);
        let (vo_bytes, vo) = self.fetch(&names.vo, Some(&progress), parse).await?;
        let mut named = minilm::whole(hidden, qk, vo);
        named.layer = scene.taken(named.layer);
        let loaded = loaded(named, &scene.source);
        let request = ComputeRequest::Layer {
            id: loaded.layer.id,
            scene: scene.to_fragment(),
        };
        let (compute, blobs) = (self.compute.clone(), vec![x_bytes, qk_bytes, vo_bytes]);
        spawn_local(async move {
            // Later requests about the layer arrive in order; a failure shows there.
            let _ = compute.ask_later(&request, blobs).await;
        });
        Ok(loaded)
    }

    /// Shows one head while the rest of its layer is loading.
    fn preview(&self, shown: LoadedLayer, run: u32) {
        if self.is_newest(run) {
            self.state.layer.update(|state| {
                if let LayerState::Loading { previous, .. } = state {
                    *previous = Some(shown);
                }
            });
        }
    }

    async fn synthetic(
        &self,
        scene: &Scene,
        seq_len: u32,
        run: u32,
    ) -> Result<LoadedLayer, Problem> {
        let id = fresh_id();
        let worker = |why: &dyn std::fmt::Display| Problem::Worker(why.to_string());
        let request = ComputeRequest::Layer {
            id,
            scene: scene.to_fragment(),
        };
        let answer = self.compute.ask(&request, Vec::new()).await;
        let (response, mut blobs) = answer.map_err(Problem::Worker)?;
        let ComputeResponse::Synthetic { tokens, w_o } = response else {
            return Err(worker(&ProtocolError::Malformed));
        };
        let w_o = blobs.tensor(&w_o).map_err(|why| worker(&why))?;
        let seq_len = seq_len.max(1) as usize;
        let mut heads: [Arc<[f32]>; 3] = Default::default();
        let count = seq_len * synthetic::MODEL_DIM;
        let goes_on = || self.is_newest(run);
        for (which, tensor) in heads.iter_mut().enumerate() {
            let first = which * count.div_ceil(CHUNK);
            let request = |at| ComputeRequest::Chunk {
                layer: id,
                at: first + at,
            };
            let data = chunks(&self.compute, count, request, goes_on).await;
            if !goes_on() {
                return Err(Problem::LoadCancelled);
            }
            *tensor = data.ok_or_else(|| worker(&ProtocolError::MissingTensor))?;
        }
        let layer = synthetic_layer(id, seq_len, heads, w_o).map_err(Problem::Worker)?;
        Ok(LoadedLayer {
            layer: Arc::new(layer),
            tokens: tokens.into(),
            source: scene.source.clone(),
        })
    }
}

fn loaded(named: minilm::Named, source: &Source) -> LoadedLayer {
    LoadedLayer {
        layer: Arc::new(named.layer),
        tokens: named.tokens,
        source: source.clone(),
    }
}

fn broken(file: &str, why: &str) -> Problem {
    Problem::FileBroken {
        file: file.to_owned(),
        why: why.to_owned(),
    }
}
