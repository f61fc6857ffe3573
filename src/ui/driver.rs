//! Brings Scenes to the engine: one animation-frame loop in which the newest Scene wins, the last
//! good picture stays, and nothing is read back before the picture is on screen.

mod ask;
mod assemble;
mod beat;
mod biases;
mod canvases;
mod drawer;
mod engines;
mod facts;
mod remote;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use self::assemble::Assembler;
use self::beat::Beat;
use self::biases::KeptBiases;
use self::canvases::Canvases;
use self::drawer::Drawer;
use self::engines::{Engines, lose, probe};
use self::facts::Facts;
use super::loader::Loader;
use super::problem::Problem;
use super::state::{AppState, LayerState};
use super::worker::Client;
use crate::engine::{Engine, EngineError};
use crate::layout::extent::Cells;
use crate::scene::Scene;
use crate::ui::memo::{effect, memo};

pub use self::ask::*;
pub use self::canvases::CanvasSlot;
pub use self::engines::retry_gpu;

thread_local! {
    /// One page, one driver: every embed is a WebAssembly instance of its own.
    static DRIVER: RefCell<Option<Driver>> = const { RefCell::new(None) };
    /// Whether a device has told something that is not looked at yet.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// While the device works it is looked at so often: animation frames are too far apart for a
/// browser that tells about finished work only when it is looked at (Firefox).
const LOOK_MS: u64 = 4;
/// After so long without a change the hand rests: strip, facts and reports follow.
const REST_MS: f64 = 150.0;

/// Small maps that follow the large one sooner need no mark.
const LATE_MS: f64 = 600.0;

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
    let calculator = Client::default();
    let loader = Loader::new(state, calculator.clone());
    let biases = KeptBiases::new(calculator.clone());
    DRIVER.with(|slot| {
        *slot.borrow_mut() = Some(Driver {
            state,
            engine: None,
            engines: Engines::default(),
            loader: loader.clone(),
            canvases: Canvases::default(),
            assembler: Assembler::new(calculator.clone(), biases.clone()),
            facts: Facts::new(state, calculator, biases),
            beat: Beat::default(),
            looks: false,
        });
    });
    beat::watch_input();
    probe(state);

    let source = memo(move || {
        state
            .scene
            .with(|scene| (scene.source.clone(), scene.projected))
    });
    let again = loader.clone();
    effect(move || {
        // Read, not only tracked: a memo that nobody reads never runs.
        let _ = source.get();
        loader.load(&state.scene.get_untracked());
    });
    effect(move || {
        // A layer that could not be had is asked for again when the reader goes on.
        let scene = state.scene.get();
        let failed = |layer: &LayerState| matches!(layer, LayerState::Failed { .. });
        if state.layer.with_untracked(failed) {
            again.load(&scene);
        }
    });
    set_interval(second, Duration::from_secs(1));
    effect(move || {
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
    effect(move || {
        state.hover.track();
        state.scene.track();
        state.layer.track();
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
    if with(|driver| driver.beat.ask()).unwrap_or(false) {
        request_animation_frame(tick);
    }
}

/// Does what an animation frame does, without one: Firefox gives no more of them once a device is
/// gone while a picture of it was under way.
fn at_once() {
    // Not now: whoever tells that the device is gone may be in the middle of something. And once for
    // all that is told until then: a device can have many errors at a time.
    if !TOLD.replace(true) {
        let act = || {
            TOLD.set(false);
            tick();
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
    if !document().hidden()
        && let Some(state) = with(silent).flatten()
    {
        lose(state, EngineError::Stalled);
    }
}

/// One animation frame.
fn tick() {
    with(|driver| driver.beat.frame_came());
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

impl Driver {
    /// Draws if there is something new and room for it. Returns whether another frame is wanted.
    fn tick(&mut self, now: f64) -> Result<bool, EngineError> {
        let state = self.state;
        let Some(engine) = self.engine.as_mut() else {
            return Ok(false);
        };
        if let Some(error) = engine.lost() {
            return Err(error);
        }
        if self.beat.observe(engine, now) {
            self.assembler.calculator().release();
        }
        let cells = state.layer.with_untracked(|layer| {
            let layer = &layer.shown()?.layer;
            let rect = state
                .scene
                .with_untracked(|scene| scene.rect(layer.seq_len));
            Some(Cells {
                map: (rect.rows, rect.cols),
                output: (layer.seq_len as u32, layer.model_dim() as u32),
            })
        });
        match self.canvases.settle(engine, cells) {
            Ok(true) => self.beat.changed(now),
            Ok(false) => {}
            Err(error) => return Err(error),
        }
        self.tell_room();
        self.tell_unfinished(now);
        let Some(engine) = self.engine.as_mut() else {
            return Ok(false);
        };
        let room = Beat::has_room(engine);
        if room && engine.is_partial() && !self.beat.gives_up(now) {
            engine.idle();
        } else if room && self.beat.is_dirty() {
            let scene: Scene = state.scene.get_untracked();
            let shown = state.layer.with_untracked(|layer| layer.shown().cloned());
            let frame = shown.and_then(|loaded| {
                self.assembler
                    .frame(&scene, &loaded, &self.canvases, state.strip.get_untracked())
            });
            match frame {
                Some(frame) => match engine.draw(&frame) {
                    Ok(number) => self.beat.drawn(number, now),
                    Err(EngineError::EmptyCanvas) => self.beat.skipped(),
                    Err(error @ EngineError::TooLarge { .. }) => {
                        self.beat.skipped();
                        let too_large = |problem: &Problem| {
                            matches!(problem, Problem::Engine(EngineError::TooLarge { .. }))
                        };
                        state.tell(too_large, vec![Problem::Engine(error)]);
                    }
                    Err(error) => return Err(error),
                },
                // Something is still on its way (a layer, factors): its arrival wakes the loop.
                None => self.beat.skipped(),
            }
        } else if room && !self.beat.is_dirty() && self.beat.rests(now) {
            self.beat.slice(engine.idle());
        }
        if self.beat.report_due(engine, now) {
            let (report, asked) = (engine.report(), self.beat.engine());
            spawn_local(async move {
                let report = report.await;
                let newest = with(|driver| {
                    let newest = driver.beat.engine() == asked;
                    if newest {
                        driver.beat.reported();
                    }
                    newest
                });
                if let (Ok(report), Some(true)) = (report, newest) {
                    state.report.set(report);
                }
                wake();
            });
        }
        if self.beat.rests(now) {
            self.facts.rest(engine, self.beat.is_dirty());
        }
        if self.beat.comes_to_rest(now) {
            state.rested.set(true);
        }
        if let Some(sigma) = self.assembler.take_sigma() {
            state.sigma.set(sigma);
        }
        Ok(self.beat.wants_more(engine) || self.facts.waits())
    }

    /// Marks what is coarse, and small maps that have been old for so long that it can be seen.
    fn tell_unfinished(&self, now: f64) {
        let Some(engine) = &self.engine else {
            return;
        };
        let (coarse, waits) = engine.unfinished();
        let late = waits && self.beat.waits_for(now) > LATE_MS;
        let state = self.state;
        if state.coarse.get_untracked() != coarse {
            state.coarse.set(coarse);
        }
        if state.strip_late.get_untracked() != late {
            state.strip_late.set(late);
        }
    }

    /// A map without room gets a sentence, and loses it when there is room again.
    fn tell_room(&self) {
        let is_it = |problem: &Problem| *problem == Problem::Engine(EngineError::EmptyCanvas);
        let problems = self.state.problems;
        let told = problems.with_untracked(|all| all.iter().any(is_it));
        if self.canvases.has_no_room() != told {
            let now = (!told).then_some(Problem::Engine(EngineError::EmptyCanvas));
            self.state.tell(is_it, now.into_iter().collect());
        }
    }
}

/// A shared cell for what arrives later.
type Later<T> = Rc<RefCell<T>>;
