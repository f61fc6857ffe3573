//! What the page asks of the scheduler, and tells it.

use std::ops::Range;

use crate::scheduler::active_engine::ActiveEngine;
use crate::scheduler::canvases::CanvasSlot;
use crate::scheduler::{Scheduler, now, wake, with};
use crate::state::LayerState;
use crate::state::problem::Problem;
use attnscope_attention::reference::Row;
use attnscope_engine::Engine;
use leptos::prelude::*;

/// Gives the engine a canvas to draw on.
pub fn attach(slot: CanvasSlot, canvas: web_sys::HtmlCanvasElement) {
    with(|scheduler| {
        scheduler
            .canvases
            .attach(slot, canvas, scheduler.engine.as_mut())
    });
    changed();
}

/// The canvas has left the page.
pub fn detach(slot: CanvasSlot) {
    with(|scheduler| scheduler.canvases.detach(slot, scheduler.engine.as_mut()));
}

/// Stops the download of a layer; the last one stays.
pub fn cancel_load() {
    let loader = with(|scheduler| scheduler.loader.clone());
    if let Some(loader) = loader {
        loader.cancel();
    }
}

/// Asks once more for what this problem is about.
pub fn retry(problem: &Problem) {
    if problem.is_of_compute_worker() {
        let found = with(|scheduler| {
            scheduler.numbers.ask_again();
            scheduler.assembler.ask_again();
            (scheduler.state, scheduler.assembler.compute().clone())
        });
        if let Some((state, compute)) = found {
            state.tell(Problem::is_of_compute_worker, Vec::new());
            compute.restart();
            changed();
            with(|scheduler| scheduler.numbers.cell());
        }
    }
    if let Problem::Engine(_) = problem {
        crate::scheduler::device_lifecycle::retry_engine();
    } else if let Some(loader) = with(|scheduler| scheduler.loader.clone()) {
        loader.retry();
    }
}

/// Reads the cell of the inspector back from the drawn map, once the hand rests.
pub fn read_back_cell() {
    with(|scheduler| scheduler.numbers.want_drawn());
    wake();
}

/// Rows of the head on screen, in f64: none while q and k are on their way, of which
/// [`AppState::rested`] tells.
pub fn rows(rows: Range<u32>) -> Vec<Row> {
    with(|scheduler| scheduler.numbers.rows(rows)).unwrap_or_default()
}

/// Something that the picture depends on is new.
pub fn changed() {
    with(|scheduler| scheduler.pacing.changed(now()));
    wake();
}

/// A canvas may have another extent now.
pub fn resized() {
    with(|scheduler| scheduler.canvases.moved());
    changed();
}

/// Puts a copy of the map over its canvas, for paper.
pub fn copy_map() {
    with(|scheduler| {
        // Only in the task that draws it a picture of the graphics device can be copied everywhere.
        if let Some(ActiveEngine::Gpu(engine)) = &mut scheduler.engine {
            engine.redraw_map();
        }
        scheduler.canvases.copy_map();
    });
}

/// Takes the copy away.
pub fn drop_copy() {
    with(|scheduler| scheduler.canvases.drop_copy());
}

/// What the host API needs to know.
pub fn with_engine<T>(ask: impl FnOnce(&mut ActiveEngine) -> T) -> Option<T> {
    with(|scheduler| scheduler.engine.as_mut().map(ask)).flatten()
}

/// Frames drawn so far.
pub fn frames() -> u64 {
    with(|scheduler| scheduler.pacing.frames()).unwrap_or(0)
}

/// Takes the measured times from input event to presented frame, in ms.
pub fn latencies() -> Vec<f64> {
    with(|scheduler| scheduler.pacing.take_latencies()).unwrap_or_default()
}

/// Whether the newest Scene was handed to the engine, or there is none.
pub fn is_drawn() -> bool {
    with(|scheduler| {
        let drawn = !scheduler.pacing.is_dirty() && !scheduler.assembler.waits();
        scheduler.engine.is_none() || (drawn && scheduler.has_layer())
    })
    .unwrap_or(false)
}

/// Whether the newest Scene is on screen with everything that belongs to it.
pub fn is_settled() -> bool {
    with(|scheduler| {
        let idle = scheduler
            .engine
            .as_ref()
            .is_some_and(|e| e.in_flight() == 0);
        let waits = scheduler.assembler.waits() || scheduler.numbers.pending();
        scheduler.has_layer() && idle && scheduler.pacing.at_rest() && !waits
    })
    .unwrap_or(false)
}

impl Scheduler {
    /// Whether the layer of the newest Scene is there, or is not to be had.
    fn has_layer(&self) -> bool {
        self.state.layer.with_untracked(|layer| match layer {
            LayerState::Ready(_) | LayerState::Failed { .. } => true,
            LayerState::Idle | LayerState::Loading { .. } => false,
        })
    }
}
