//! Numbers about the picture, in f64 on the CPU: the facts of the sentence (from the compute
//! worker) and the cell under the pointer (here, from the head's q and k).

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::scheduler::Later;
use crate::scheduler::active_engine::ActiveEngine;
use crate::scheduler::biases::KeptBiases;
use crate::state::{AppState, CellNumbers, LayerState, LoadedLayer};
use crate::workers::compute_client::ComputeClient;
use attnscope_attention::layer::Layer;
use attnscope_attention::project::Projected;
use attnscope_attention::reference::{Head, HeadFactors, Row};
use attnscope_attention::summary::Summary;
use attnscope_engine::Engine;
use attnscope_scene::resolve::Sizes;
use attnscope_scene::{Bias, Quantity, Rect, Scene, View};
use attnscope_worker::Latest;
use attnscope_worker::compute_protocol::{ComputeRequest, ComputeResponse};

/// Key of a summary: layer, and the Scene without what does not matter to it.
type Key = (u64, Scene);

/// What was drawn.
#[derive(Clone, PartialEq)]
pub struct Drawn {
    /// Number of the Frame.
    frame: u64,
    /// Whose picture it is, and of which cells.
    of: SummaryKey,
}

/// What makes the values of a map.
type SummaryKey = (Key, Quantity, Rect);

/// q and k of one head, and its factors where the score has a rank.
type Parts = Rc<(Projected, Option<HeadFactors>)>;

/// What they depend on: layer, head, and P_K where the score has a rank.
type PartsKey = (u64, usize, Option<Bias>);

/// What of a Scene the facts depend on, the rest at its defaults.
pub fn summary_key(scene: &Scene) -> Scene {
    let masks = scene.window_acts() || scene.causal || scene.padding > 0;
    let mut scene = scene.clone();
    scene.view = View {
        head: scene.view.head,
        // Where something is masked the sentence speaks of the row that is locked.
        cell: scene.view.cell.filter(|_| masks).map(|(row, _)| (row, 0)),
        ..View::default()
    };
    (scene.lang, scene.theme, scene.lesson) = (None, None, None);
    scene.show.clear();
    scene
}

/// Numbers beside the picture.
pub struct NumberRequests {
    state: AppState,
    compute: ComputeClient,
    biases: KeptBiases,
    summary: Later<Latest<Key, Arc<Summary>>>,
    parts: Later<Latest<PartsKey, Parts>>,
    head: Option<(Key, Head)>,
    want_drawn: bool,
    /// The newest picture.
    drawn: Option<Drawn>,
}

impl NumberRequests {
    /// Requests for `state`, asked of `compute`.
    pub fn new(state: AppState, compute: ComputeClient, biases: KeptBiases) -> Self {
        Self {
            state,
            compute,
            biases,
            summary: Later::default(),
            parts: Later::default(),
            head: None,
            want_drawn: false,
            drawn: None,
        }
    }

    /// The inspector wants to know what was drawn.
    pub fn want_drawn(&mut self) {
        self.want_drawn = true;
    }

    /// Whether facts of the present picture are still to come.
    pub fn pending(&self) -> bool {
        self.summary.borrow().waits() || self.parts.borrow().waits() || self.waits()
    }

    /// What was asked for and did not come is asked for once more.
    pub fn ask_again(&mut self) {
        self.summary.borrow_mut().retry();
        self.parts.borrow_mut().retry();
    }

    /// Whether there is something to do when the hand rests.
    pub fn waits(&self) -> bool {
        let summary = self.summary.borrow();
        let present = || self.present();
        !summary.waits() && present().is_some_and(|(key, _)| !summary.is_answered(&key))
    }

    /// The hand rests.
    pub fn rest(&mut self, engine: &mut ActiveEngine, dirty: bool) {
        if let Some((key, loaded)) = self.present() {
            let asks = self.summary.borrow_mut().want(&key);
            if asks {
                self.ask_summary(key, &loaded.layer);
            }
        }
        if self.want_drawn && !dirty && self.shows_present() {
            self.want_drawn = false;
            self.read_drawn(engine);
        }
    }

    /// Notes that Frame `frame` shows `scene` of `layer`.
    pub fn note_drawn(&mut self, frame: u64, layer: &Layer, scene: &Scene) {
        let of = picture(layer, scene);
        self.drawn = Some(Drawn { frame, of });
    }

    /// Whether the newest picture is one of the present Scene: factors of a rank may be on their way.
    fn shows_present(&self) -> bool {
        let Some((_, loaded)) = self.present() else {
            return false;
        };
        let scene = self.state.scene;
        let now = scene.with_untracked(|scene| picture(&loaded.layer, scene));
        self.drawn.as_ref().is_some_and(|drawn| drawn.of == now)
    }

    /// The layer on screen and the part of the Scene that facts depend on.
    fn present(&self) -> Option<(Key, LoadedLayer)> {
        // While another source is on its way, or could not be had, the Scene is not the layer's.
        let loaded = self.state.layer.with_untracked(|layer| match layer {
            LayerState::Ready(loaded) => Some(loaded.clone()),
            _ => None,
        })?;
        if loaded.layer.preview_of.is_some() {
            return None;
        }
        let scene = self.state.scene.with_untracked(summary_key);
        Some(((loaded.layer.id, scene), loaded))
    }

    /// Whether the facts on the page are of this picture.
    fn is_known(&self, key: &Key) -> bool {
        self.summary.borrow().is_answered(key)
    }

    fn ask_summary(&self, key: Key, layer: &Layer) {
        let (id, scene) = key.clone();
        // Before the facts: the cell that they are about is explained as soon as they are there.
        let _ = self.parts(id, &scene, layer);
        let (state, compute, latest) = (self.state, self.compute.clone(), self.summary.clone());
        spawn_local(async move {
            let request = ComputeRequest::Summary {
                layer: id,
                scene: scene.to_fragment(),
            };
            let answer = compute.ask_later(&request, Vec::new()).await;
            let facts = match answer {
                Ok((ComputeResponse::Summary(facts), _)) => facts.map(Arc::new),
                _ => None,
            };
            let counts = latest.borrow_mut().answer(&key, facts.clone());
            if counts {
                state.summary.set(facts.map(|facts| (scene, facts)));
            }
            crate::scheduler::wake();
        });
    }

    /// Computes the cell that is explained: the one under the pointer, the locked one, or the one
    /// that the sentence is about.
    pub fn cell(&mut self) {
        let numbers = self.numbers();
        let old = self.state.cell.get_untracked();
        // What was drawn stays true while nothing else about the cell has changed.
        let numbers = numbers.map(|mut new| {
            if let Some(old) = &old
                && (CellNumbers {
                    drawn: None,
                    ..old.clone()
                }) == new
            {
                new.drawn = old.drawn;
            }
            new
        });
        if numbers != old {
            self.state.cell.set(numbers);
        }
    }

    fn numbers(&mut self) -> Option<CellNumbers> {
        let ((id, scene), loaded) = self.present()?;
        let layer = &loaded.layer;
        let locked = self.state.scene.with_untracked(|s| s.cell(layer.seq_len));
        let hovered = self
            .state
            .hover
            .get_untracked()
            .map(|(i, j)| (i as usize, j as usize));
        let (row, col) = if let Some(chosen) = hovered.or(locked) {
            chosen
        } else {
            let spoken = self.state.spoken.get_untracked()?;
            let cell = (spoken.row, spoken.col);
            // As the sentence, it follows when the hand rests.
            let shown = self.state.cell.get_untracked();
            if !self.is_known(&(id, scene.clone()))
                && shown.as_ref().is_some_and(|c| (c.row, c.col) == cell)
            {
                return shown;
            }
            cell
        };
        if row >= layer.seq_len || col >= layer.seq_len {
            return None;
        }
        let Some(head) = self.head(id, &scene, layer) else {
            // While factors of another P_K are on their way the numbers stay, as the picture does.
            let of_head =
                |((kept, of), _): &(Key, Head)| (*kept, of.view.head) == (id, scene.view.head);
            let waits = self.parts.borrow().waits() && self.head.as_ref().is_some_and(of_head);
            let shown = self.state.cell.get_untracked();
            return shown.filter(|shown| waits && (shown.row, shown.col) == (row, col));
        };
        let cell = head.cell(row, col);
        Some(CellNumbers {
            row,
            col,
            visible: cell.visible,
            qk: cell.qk,
            qp: cell.qp,
            s: cell.s,
            score: cell.score,
            weight: cell.weight,
            row_sum: cell.row_sum,
            visible_keys: cell.visible_keys,
            quantity: self.state.scene.with_untracked(|s| s.view.quantity),
            drawn: None,
        })
    }

    /// Rows of the head on screen, from the same numbers as the cell.
    pub fn rows(&mut self, rows: Range<u32>) -> Vec<Row> {
        let Some(((id, scene), loaded)) = self.present() else {
            return Vec::new();
        };
        let layer = &loaded.layer;
        let rows = rows.start as usize..layer.seq_len.min(rows.end as usize);
        self.head(id, &scene, layer)
            .map_or_else(Vec::new, |head| rows.map(|i| head.row(i)).collect())
    }

    /// The head on screen, made when it is first asked for.
    fn head(&mut self, id: u64, scene: &Scene, layer: &Layer) -> Option<&Head> {
        let key = (id, scene.clone());
        if self.head.as_ref().is_none_or(|(kept, _)| *kept != key) {
            let sizes = Sizes::from(layer);
            let parts = self.parts(id, scene, layer)?;
            let biases = self.biases.of(scene, layer)?;
            let ((projected, factors), config) = (&*parts, scene.config(sizes));
            let head = scene.head(sizes.heads);
            let factors = factors.as_ref();
            let made = Head::from_factors(layer, projected, factors, &config, &biases, head);
            self.head = Some((key, made.ok()?));
        }
        self.head.as_ref().map(|(_, head)| head)
    }

    /// q and k of the head: there, or asked for. One request at a time; the newest is sent when the last
    /// is answered.
    fn parts(&self, id: u64, scene: &Scene, layer: &Layer) -> Option<Parts> {
        let (sizes, seq_len) = (Sizes::from(layer), layer.seq_len);
        let head = scene.head(sizes.heads);
        let ranked = scene.config(sizes).score_rank.is_some();
        let key = (id, head, ranked.then(|| scene.cjar.p_k.clone()));
        let mut parts = self.parts.borrow_mut();
        if let Some(parts) = parts.get(&key) {
            return Some(parts.clone());
        }
        if !parts.want(&key) {
            return None;
        }
        let (compute, latest) = (self.compute.clone(), self.parts.clone());
        let rested = self.state.rested;
        let request = ComputeRequest::Head {
            layer: id,
            head,
            factors: ranked.then(|| scene.to_fragment()),
        };
        spawn_local(async move {
            let parts = match compute.ask_later(&request, Vec::new()).await {
                Ok((ComputeResponse::Head(parts), mut blobs)) => {
                    parts.read(seq_len, &mut blobs).ok()
                }
                _ => None,
            };
            let came = parts.is_some();
            let counts = latest.borrow_mut().answer(&key, parts.map(Rc::new));
            crate::scheduler::with(|scheduler| scheduler.numbers.cell());
            if counts && came {
                rested.set(true);
            }
        });
        None
    }

    /// Reads the map back and puts the cell's drawn value beside its computed one.
    fn read_drawn(&self, engine: &mut ActiveEngine) {
        let state = self.state;
        let (Some(cell), Some(asked)) = (state.cell.get_untracked(), self.drawn.clone()) else {
            return;
        };
        let (_, _, rect) = asked.of;
        let (Some(row), Some(col)) = (
            (cell.row as u32).checked_sub(rect.row),
            (cell.col as u32).checked_sub(rect.col),
        ) else {
            return;
        };
        let values = engine.read_map();
        spawn_local(async move {
            let Ok(map) = values.await else { return };
            // One texel per cell, or there is no value of this cell alone.
            if map.frame == asked.frame && (map.rows, map.cols) != (rect.rows, rect.cols) {
                return;
            }
            let same_cell = |now: &CellNumbers| (now.row, now.col) == (cell.row, cell.col);
            if !state
                .cell
                .with_untracked(|now| now.as_ref().is_some_and(same_cell))
            {
                return;
            }
            // The numbers beside it are those of the present Scene: only a Frame of it may be put
            // there. Another one is read again once it is drawn.
            let present = crate::scheduler::with(|scheduler| {
                let numbers = &mut scheduler.numbers;
                let present = map.frame == asked.frame
                    && numbers.drawn.as_ref() == Some(&asked)
                    && numbers.shows_present();
                numbers.want_drawn |= !present;
                present
            });
            let drawn = map.values.get((row * map.cols + col) as usize).copied();
            if present == Some(true) {
                state.cell.update(|now| {
                    if let Some(now) = now {
                        now.drawn = drawn;
                    }
                });
            } else {
                crate::scheduler::wake();
            }
        });
    }
}

/// What makes the values of the map that `scene` shows of `layer`.
fn picture(layer: &Layer, scene: &Scene) -> SummaryKey {
    let key = (layer.id, summary_key(scene));
    (key, scene.view.quantity, scene.rect(layer.seq_len))
}
