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
    /// One page, one scheduler: every embed is a WebAssembly instance of its own.
    static SCHEDULER: RefCell<Option<Scheduler>> = const { RefCell::new(None) };
    /// Whether a device has told something that is not looked at yet.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// From one turn to the next where there are no animation frames.
const FRAME: Duration = Duration::from_millis(16);
/// While the device works it is looked at so often: animation frames are too far apart for a
/// browser that tells about finished work only when it is looked at (Firefox).
const LOOK_MS: u64 = 4;
/// After so long without a change the hand rests: strip, facts and reports follow.
const REST_MS: f64 = 150.0;

/// All that lives beside the components.
struct Scheduler {
    state: AppState,
    engine: Option<ActiveEngine>,
    engines: DeviceLifecycle,
    loader: Loader,
    canvases: Canvases,
    assembler: Assembler,
    numbers: NumberRequests,
    pacing: FramePacing,
    /// Whether the device is being looked at.
    looks: bool,
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
            looks: false,
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
        // Read, not only tracked: a memo that nobody reads never runs.
        let _ = source.get();
        loader.load(&state.scene.get_untracked());
    });
    Effect::new(move || {
        // A layer that could not be had is asked for again when the reader goes on.
        let scene = state.scene.get();
        let failed = |layer: &LayerState| matches!(layer, LayerState::Failed { .. });
        if state.layer.with_untracked(failed) {
            again.load(&scene);
        }
    });
    set_interval(second, Duration::from_secs(1));
    Effect::new(move || {
        state.scene.track();
        state.layer.track();
        state.engine.track();
        state.strip.track();
        changed();
        if frame_pacing::has_input() {
            // The device works while the page brings its texts up to date.
            turn();
        }
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

/// Asks for an animation frame, unless one is coming.
fn wake() {
    match with(|scheduler| (scheduler.pacing.ask(), scheduler.pacing.is_starved())) {
        Some((true, false)) => request_animation_frame(tick),
        Some((true, true)) => set_timeout(stand_in, FRAME),
        Some((false, _)) | None => {}
    }
}

/// A turn now, and not with the next animation frame: Firefox gives no more of them once a device is
/// gone while a picture of it was under way.
fn at_once() {
    // Not now: whoever tells that the device is gone may be in the middle of something. And once for
    // all that is told until then: a device can have many errors at a time.
    if !TOLD.replace(true) {
        let act = || {
            TOLD.set(false);
            stand_in();
        };
        set_timeout(act, Duration::ZERO);
    }
}

/// Looks at the device until it has finished.
fn look() {
    let works = with(|scheduler| {
        let works = scheduler.engine.as_ref().is_some_and(|engine| {
            engine.finished();
            engine.in_flight() > 0
        });
        scheduler.looks = works;
        works
    });
    if works == Some(true) {
        set_timeout(look, Duration::from_millis(LOOK_MS));
    }
}

/// A device that is lost while nothing is drawn must be noticed all the same, and one that no longer
/// answers never tells. A hidden page may be given no time, so its seconds do not count.
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

/// One animation frame.
fn tick() {
    with(|scheduler| scheduler.pacing.frame_came());
    turn();
}

/// What stands in for an animation frame.
fn stand_in() {
    with(|scheduler| scheduler.pacing.frame_missed());
    turn();
}

/// One turn of the loop: what is finished is noted, what is new is drawn if there is room for it.
fn turn() {
    let outcome = with(|scheduler| {
        let outcome = scheduler.tick(now());
        let works = scheduler
            .engine
            .as_ref()
            .is_some_and(|engine| engine.capabilities().needs_polling && engine.in_flight() > 0);
        if works && !std::mem::replace(&mut scheduler.looks, true) {
            set_timeout(look, Duration::from_millis(LOOK_MS));
        }
        (scheduler.state, outcome)
    });
    match outcome {
        Some((_, Ok(true))) => wake(),
        Some((state, Err(error))) => lose(state, error),
        Some((_, Ok(false))) | None => {}
    }
}

/// A shared cell for what arrives later.
type Later<T> = Rc<RefCell<T>>;
