//! Brings Scenes to the engine: one animation-frame loop in which the newest Scene wins, the last
//! good picture stays, and nothing is read back before the picture is on screen.

mod active_engine;
mod api;
mod assemble;
mod biases;
mod canvases;
mod cell_numbers;
mod cpu_client;
mod device_lifecycle;
mod frame_pacing;
pub mod print;
mod tick;
mod views;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use self::active_engine::ActiveEngine;
use self::assemble::Assembler;
use self::biases::KeptBiases;
use self::canvases::Canvases;
use self::cell_numbers::NumberRequests;
use self::device_lifecycle::{DeviceLifecycle, lose, probe};
use self::frame_pacing::FramePacing;
use crate::state::loader::Loader;
use crate::state::problem::Problem;
use crate::state::{AppState, LayerState};
use crate::workers::compute_client::ComputeClient;
use attnscope_engine::{Engine, EngineError};

pub use self::api::*;
pub use self::canvases::CanvasSlot;
pub use self::cell_numbers::summary_key;
pub use self::device_lifecycle::retry_gpu;

thread_local! {
    /// One scheduler per page: every embed is a WebAssembly instance of its own.
    static SCHEDULER: RefCell<Option<Scheduler>> = const { RefCell::new(None) };
    /// A device callback is pending.
    static CALLBACK_PENDING: Cell<bool> = const { Cell::new(false) };
}

/// Interval of the loop where the browser gives no animation frames.
const FRAME: Duration = Duration::from_millis(16);
/// Poll interval while the device works. Animation frames are too far apart for Firefox, which
/// reports finished work only when polled.
const POLL_MS: u64 = 4;
/// After this pause the hand counts as at rest: strip, facts and reports follow.
const REST_MS: f64 = 150.0;

/// State of the scheduler, which lives beside the components.
struct Scheduler {
    state: AppState,
    engine: Option<ActiveEngine>,
    engines: DeviceLifecycle,
    loader: Loader,
    canvases: Canvases,
    assembler: Assembler,
    numbers: NumberRequests,
    pacing: FramePacing,
    /// Polling is under way.
    polling: bool,
}

/// Starts engine, loader and loop for a page that has just been opened.
pub fn start(state: AppState) {
    let compute = ComputeClient::new(move |why| {
        state.tell(Problem::is_of_compute_worker, vec![Problem::Worker(why)]);
    });
    let loader = Loader::new(state, compute.clone());
    let biases = KeptBiases::new(compute.clone());
    SCHEDULER.with(|slot| {
        *slot.borrow_mut() = Some(Scheduler {
            state,
            engine: None,
            engines: DeviceLifecycle::default(),
            loader: loader.clone(),
            canvases: Canvases::default(),
            assembler: Assembler::new(compute.clone(), biases.clone()),
            numbers: NumberRequests::new(state, compute, biases),
            pacing: FramePacing::default(),
            polling: false,
        });
    });
    frame_pacing::watch_input();
    probe(state);

    let source = Memo::new(move |_| {
        state
            .scene
            .with(|scene| (scene.source.clone(), scene.projected))
    });
    let again = loader.clone();
    Effect::new(move || {
        // Read it, not only track it: a memo that nobody reads never runs.
        let _ = source.get();
        loader.load(&state.scene.get_untracked());
    });
    Effect::new(move || {
        // Retries a layer that failed to load when the reader goes on.
        let scene = state.scene.get();
        let failed = |layer: &LayerState| matches!(layer, LayerState::Failed { .. });
        if state.layer.with_untracked(failed) {
            again.load(&scene);
        }
    });
    set_interval(second, Duration::from_secs(1));
    // Draws at once, before the texts: a plain effect would wait in the queue behind every render
    // effect that the same Scene wakes, and the device works while the page updates its texts.
    ImmediateEffect::new_scoped(move || {
        state.scene.track();
        untrack(|| {
            changed();
            if frame_pacing::has_input() {
                turn();
            }
        });
    });
    Effect::new(move || {
        state.layer.track();
        state.engine.track();
        state.strip.track();
        changed();
    });
    Effect::new(move || {
        state.hover.track();
        state.scene.track();
        state.layer.track();
        state.spoken.track();
        state.summary.track();
        with(|scheduler| scheduler.numbers.cell());
    });
}

fn with<T>(act: impl FnOnce(&mut Scheduler) -> T) -> Option<T> {
    SCHEDULER.with(|slot| slot.try_borrow_mut().ok()?.as_mut().map(act))
}

fn now() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}

/// Requests an animation frame, unless one is pending.
fn wake() {
    match with(|scheduler| (scheduler.pacing.ask(), scheduler.pacing.is_starved())) {
        Some((true, false)) => request_animation_frame(tick),
        Some((true, true)) => set_timeout(stand_in, FRAME),
        Some((false, _)) | None => {}
    }
}

/// Runs a turn without an animation frame: Firefox gives no more of them once a device is lost
/// while its picture was under way.
fn at_once() {
    // Deferred, because the caller may be in the middle of something, and coalesced, because a
    // device can report many errors at a time.
    if !CALLBACK_PENDING.replace(true) {
        let act = || {
            CALLBACK_PENDING.set(false);
            stand_in();
        };
        set_timeout(act, Duration::ZERO);
    }
}

/// Polls the device until it has finished.
fn poll() {
    let works = with(|scheduler| {
        let works = scheduler.engine.as_ref().is_some_and(|engine| {
            engine.finished();
            engine.in_flight() > 0
        });
        scheduler.polling = works;
        works
    });
    if works == Some(true) {
        set_timeout(poll, Duration::from_millis(POLL_MS));
    }
}

/// Runs every second: notices a device that is lost while nothing is drawn, or that no longer
/// answers. A hidden page may be given no time, so its seconds do not count.
fn second() {
    wake();
    let silent = |scheduler: &mut Scheduler| {
        let engine = scheduler.engine.as_ref()?;
        scheduler
            .pacing
            .is_silent(engine)
            .then_some(scheduler.state)
    };
    if document().hidden() {
        return;
    }
    let starved = |scheduler: &mut Scheduler| {
        scheduler.pacing.second();
        scheduler.pacing.is_starved()
    };
    if with(starved) == Some(true) {
        stand_in();
    }
    if let Some(state) = with(silent).flatten() {
        lose(state, EngineError::Stalled);
    }
}

/// An animation frame.
fn tick() {
    with(|scheduler| scheduler.pacing.frame_came());
    turn();
}

/// Stands in for an animation frame.
fn stand_in() {
    with(|scheduler| scheduler.pacing.frame_missed());
    turn();
}

/// One turn of the loop: notes what has finished, and draws what is new if there is room for it.
fn turn() {
    let outcome = with(|scheduler| {
        let outcome = scheduler.tick(now());
        let works = scheduler
            .engine
            .as_ref()
            .is_some_and(|engine| engine.capabilities().needs_polling && engine.in_flight() > 0);
        if works && !std::mem::replace(&mut scheduler.polling, true) {
            set_timeout(poll, Duration::from_millis(POLL_MS));
        }
        (scheduler.state, outcome)
    });
    match outcome {
        Some((_, Ok(true))) => wake(),
        Some((state, Err(error))) => lose(state, error),
        Some((_, Ok(false))) | None => {}
    }
}

/// A shared cell for a value that arrives later.
type Later<T> = Rc<RefCell<T>>;
