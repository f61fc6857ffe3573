//! What the page asks of the driver, and tells it.

use std::ops::Range;

use super::canvases::CanvasSlot;
use super::drawer::Drawer;
use super::{Driver, now, wake, with};
use crate::ui::problem::Problem;
use crate::ui::state::LayerState;
use attnscope_attention::reference::Row;
use attnscope_engine::Engine;
use leptos::prelude::*;

/// Gives the engine a canvas to draw on.
pub fn attach(slot: CanvasSlot, canvas: web_sys::HtmlCanvasElement) {
    with(|driver| driver.canvases.attach(slot, canvas, driver.engine.as_mut()));
    changed();
}

/// The canvas has left the page.
pub fn detach(slot: CanvasSlot) {
    with(|driver| driver.canvases.detach(slot, driver.engine.as_mut()));
}

/// Stops the download of a layer; the last one stays.
pub fn cancel_load() {
    let loader = with(|driver| driver.loader.clone());
    if let Some(loader) = loader {
        loader.cancel();
    }
}

/// Asks once more for what this problem is about.
pub fn retry(problem: &Problem) {
    if problem.is_of_compute_worker() {
        let found = with(|driver| {
            driver.facts.ask_again();
            driver.assembler.ask_again();
            (driver.state, driver.assembler.compute().clone())
        });
        if let Some((state, compute)) = found {
            state.tell(Problem::is_of_compute_worker, Vec::new());
            compute.restart();
            changed();
            with(|driver| driver.facts.cell());
        }
    }
    if let Problem::Engine(_) = problem {
        super::engines::retry_cpu();
    } else if let Some(loader) = with(|driver| driver.loader.clone()) {
        loader.retry();
    }
}

/// Reads the cell of the inspector back from the drawn map, once the hand rests.
pub fn read_back_cell() {
    with(|driver| driver.facts.want_drawn());
    wake();
}

/// Rows of the head on screen, in f64: none while q and k are on their way, of which
/// [`AppState::rested`] tells.
pub fn rows(rows: Range<u32>) -> Vec<Row> {
    with(|driver| driver.facts.rows(rows)).unwrap_or_default()
}

/// Something that the picture depends on is new.
pub fn changed() {
    with(|driver| driver.beat.changed(now()));
    wake();
}

/// A canvas may have another extent now.
pub fn resized() {
    with(|driver| driver.canvases.moved());
    changed();
}

/// Puts a copy of the map over its canvas, for paper.
pub fn copy_map() {
    with(|driver| {
        // Only in the task that draws it a picture of the graphics device can be copied everywhere.
        if let Some(Drawer::Gpu(engine)) = &mut driver.engine {
            engine.redraw_map();
        }
        driver.canvases.copy_map();
    });
}

/// Takes the copy away.
pub fn drop_copy() {
    with(|driver| driver.canvases.drop_copy());
}

/// What the host API needs to know.
pub fn with_engine<T>(ask: impl FnOnce(&mut Drawer) -> T) -> Option<T> {
    with(|driver| driver.engine.as_mut().map(ask)).flatten()
}

/// Frames drawn so far.
pub fn frames() -> u64 {
    with(|driver| driver.beat.frames()).unwrap_or(0)
}

/// Takes the measured times from input event to presented frame, in ms.
pub fn latencies() -> Vec<f64> {
    with(|driver| driver.beat.take_latencies()).unwrap_or_default()
}

/// Whether the newest Scene was handed to the engine, or there is none.
pub fn is_drawn() -> bool {
    with(|driver| {
        let drawn = !driver.beat.is_dirty() && !driver.assembler.waits();
        driver.engine.is_none() || (drawn && driver.has_layer())
    })
    .unwrap_or(false)
}

/// Whether the newest Scene is on screen with everything that belongs to it.
pub fn is_settled() -> bool {
    with(|driver| {
        let idle = driver.engine.as_ref().is_some_and(|e| e.in_flight() == 0);
        let waits = driver.assembler.waits() || driver.facts.pending();
        driver.has_layer() && idle && driver.beat.at_rest() && !waits
    })
    .unwrap_or(false)
}

impl Driver {
    /// Whether the layer of the newest Scene is there, or is not to be had.
    fn has_layer(&self) -> bool {
        self.state.layer.with_untracked(|layer| match layer {
            LayerState::Ready(_) | LayerState::Failed { .. } => true,
            LayerState::Idle | LayerState::Loading { .. } => false,
        })
    }
}
