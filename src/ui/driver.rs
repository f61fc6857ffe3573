//! Brings Scenes to the engine: one animation-frame loop in which the newest Scene wins, the last
//! good picture stays, and nothing is read back before the picture is on screen.

mod ask;
mod assemble;
mod beat;
mod biases;
mod canvases;
mod cpu_client;
mod drawer;
mod engines;
mod facts;
mod turn;
mod views;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

use self::assemble::Assembler;
use self::beat::Beat;
use self::biases::KeptBiases;
use self::canvases::Canvases;
use self::drawer::Drawer;
use self::engines::{Engines, lose, probe};
use self::facts::Facts;
use super::compute_client::ComputeClient;
use super::loader::Loader;
use super::problem::Problem;
use super::state::{AppState, LayerState};
use attnscope_engine::{Engine, EngineError};

pub use self::ask::*;
pub use self::canvases::CanvasSlot;
pub use self::engines::retry_gpu;
pub use self::facts::of_facts;

thread_local! {
    /// One page, one driver: every embed is a WebAssembly instance of its own.
    static DRIVER: RefCell<Option<Driver>> = const { RefCell::new(None) };
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
struct Driver {
    state: AppState,
    engine: Option<Drawer>,
    engines: Engines,
    loader: Loader,
    canvases: Canvases,
    assembler: Assembler,
    facts: Facts,
    beat: Beat,
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
    DRIVER.with(|slot| {
        *slot.borrow_mut() = Some(Driver {
            state,
            engine: None,
            engines: Engines::default(),
            loader: loader.clone(),
            canvases: Canvases::default(),
            assembler: Assembler::new(compute.clone(), biases.clone()),
            facts: Facts::new(state, compute, biases),
            beat: Beat::default(),
            looks: false,
        });
    });
    beat::watch_input();
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
        if beat::has_input() {
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
        with(|driver| driver.facts.cell());
    });
}

fn with<T>(act: impl FnOnce(&mut Driver) -> T) -> Option<T> {
    DRIVER.with(|slot| slot.try_borrow_mut().ok()?.as_mut().map(act))
}

fn now() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}

/// Asks for an animation frame, unless one is coming.
fn wake() {
    match with(|driver| (driver.beat.ask(), driver.beat.is_starved())) {
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
    let works = with(|driver| {
        let works = driver.engine.as_ref().is_some_and(|engine| {
            engine.finished();
            engine.in_flight() > 0
        });
        driver.looks = works;
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
    let silent = |driver: &mut Driver| {
        let engine = driver.engine.as_ref()?;
        driver.beat.is_silent(engine).then_some(driver.state)
    };
    if document().hidden() {
        return;
    }
    let starved = |driver: &mut Driver| {
        driver.beat.second();
        driver.beat.is_starved()
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
    with(|driver| driver.beat.frame_came());
    turn();
}

/// What stands in for an animation frame.
fn stand_in() {
    with(|driver| driver.beat.frame_missed());
    turn();
}

/// One turn of the loop: what is finished is noted, what is new is drawn if there is room for it.
fn turn() {
    let outcome = with(|driver| {
        let outcome = driver.tick(now());
        let works = driver
            .engine
            .as_ref()
            .is_some_and(|engine| engine.capabilities().looked_at && engine.in_flight() > 0);
        if works && !std::mem::replace(&mut driver.looks, true) {
            set_timeout(look, Duration::from_millis(LOOK_MS));
        }
        (driver.state, outcome)
    });
    match outcome {
        Some((_, Ok(true))) => wake(),
        Some((state, Err(error))) => lose(state, error),
        Some((_, Ok(false))) | None => {}
    }
}

/// A shared cell for what arrives later.
type Later<T> = Rc<RefCell<T>>;
