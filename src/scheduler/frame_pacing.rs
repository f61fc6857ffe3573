//! When to draw: the newest change wins, at most two frames in flight, the rest of the work when
//! the hand rests. Also measures the time from an input event to the presented frame.

use std::cell::Cell;
use std::collections::VecDeque;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::scheduler::REST_MS;
use attnscope_engine::Engine;

/// Pieces of work that the device may have unfinished before the next frame is drawn.
const IN_FLIGHT: u32 = 2;
/// The same for a software adapter: it works on the cores that the page needs, so that a queue
/// only makes the picture older.
const IN_FLIGHT_SOFTWARE: u32 = 1;
/// A map that takes several submits is finished before the next one begins, unless it takes longer
/// than this: pictures must neither starve nor be old.
const PATIENCE_MS: f64 = 250.0;
/// Numbers beside the picture are read at most so often.
const REPORT_MS: f64 = 120.0;
/// A device that answers nothing for so many seconds of a visible page never will: no submit takes
/// longer, and a browser gives a graphics card up sooner.
const SILENCE: u32 = 10;
/// A software adapter that shares its cores may compile a shader for several seconds.
const SILENCE_SOFTWARE: u32 = 30;
const KEPT_LATENCIES: usize = 4096;

thread_local! {
    /// Time stamp of the newest input event.
    static INPUT: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes the time of every event that can change the Scene, before any handler sees it.
pub fn watch_input() {
    let note = |event: &web_sys::Event| INPUT.with(|input| input.set(Some(event.time_stamp())));
    let target = window();
    for name in ["input", "keydown", "click", "pointermove"] {
        let heard =
            wasm_bindgen::closure::Closure::<dyn FnMut(web_sys::Event)>::new(move |event| {
                note(&event);
            });
        let added = target.add_event_listener_with_callback_and_bool(
            name,
            heard.as_ref().unchecked_ref(),
            true,
        );
        // The page and its listeners end together.
        if added.is_ok() {
            heard.forget();
        }
    }
}

/// Whether an input event has come that no frame shows yet.
pub fn has_input() -> bool {
    INPUT.with(Cell::get).is_some()
}

struct Flight {
    frame: u64,
    input: Option<f64>,
}

/// The state of the loop.
// Independent facts, each asked by its name; an enum of their combinations would hide them.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
pub struct FramePacing {
    asked: bool,
    /// Seconds since the last animation frame in which one was waited for.
    starved: u32,
    dirty: bool,
    rested: bool,
    changed: f64,
    started: f64,
    more: bool,
    drawn: u64,
    newest: u64,
    flights: VecDeque<Flight>,
    latencies: VecDeque<f64>,
    reporting: bool,
    reported: u64,
    last_report: f64,
    first_seen: bool,
    completed: Option<u32>,
    silence: u32,
    /// How many engines have drawn before this one.
    engines: u32,
}

impl FramePacing {
    /// Something is new.
    pub fn changed(&mut self, now: f64) {
        self.dirty = true;
        self.rested = false;
        self.changed = now;
    }

    /// Another engine draws from now on, and counts its frames anew.
    pub fn restart(&mut self, now: f64) {
        self.flights.clear();
        (self.newest, self.reported) = (0, 0);
        (self.more, self.reporting) = (false, false);
        (self.completed, self.silence) = (None, 0);
        self.engines += 1;
        self.changed(now);
    }

    /// A second has passed on a visible page: counted and not measured, so that a machine that slept
    /// adds one. Returns whether the device has stopped answering; any answer is progress, however
    /// long the whole takes.
    pub fn is_silent(&mut self, engine: &impl Engine) -> bool {
        let completed = engine.completed_count();
        let silent = completed.is_some() && completed == self.completed;
        self.silence = if silent { self.silence + 1 } else { 0 };
        self.completed = completed;
        let limit = if engine.capabilities().software {
            SILENCE_SOFTWARE
        } else {
            SILENCE
        };
        self.silence >= limit
    }

    /// Which engine draws, by its number: what an earlier one still answers is let go.
    pub fn engine(&self) -> u32 {
        self.engines
    }

    /// Whether an animation frame must be asked for.
    pub fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    /// The animation frame is here.
    pub fn frame_came(&mut self) {
        self.starved = 0;
        self.asked = false;
    }

    /// What stands in for an animation frame is here.
    pub fn frame_missed(&mut self) {
        self.asked = false;
    }

    /// A second has passed on a visible page, counted as in [`FramePacing::is_silent`].
    pub fn second(&mut self) {
        self.starved += u32::from(self.asked);
    }

    /// Whether the browser gives a visible page no animation frames, as Firefox does after a device is
    /// gone while a picture of it was under way.
    pub fn is_starved(&self) -> bool {
        self.starved >= 2
    }

    /// Whether the picture is older than the Scene.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Whether the hand rests.
    pub fn rests(&self, now: f64) -> bool {
        now - self.changed >= REST_MS
    }

    /// Whether the hand rests since just now, with its picture drawn.
    pub fn comes_to_rest(&mut self, now: f64) -> bool {
        self.rests(now) && !self.dirty && !std::mem::replace(&mut self.rested, true)
    }

    /// Whether the device can take another frame.
    pub fn has_room(engine: &impl Engine) -> bool {
        let limit = if engine.capabilities().software {
            IN_FLIGHT_SOFTWARE
        } else {
            IN_FLIGHT
        };
        engine.in_flight() < limit
    }

    /// Frame `number` was submitted.
    pub fn drawn(&mut self, number: u64, now: f64) {
        self.dirty = false;
        self.more = true;
        self.drawn += 1;
        self.newest = number;
        self.started = now;
        let input = INPUT.with(Cell::take);
        self.flights.push_back(Flight {
            frame: number,
            input,
        });
    }

    /// Whether a map that is still being computed must make way for a newer Scene.
    pub fn gives_up(&self, now: f64) -> bool {
        self.dirty && now - self.started > PATIENCE_MS
    }

    /// For how long the newest frame has been on its way.
    pub fn waits_for(&self, now: f64) -> f64 {
        now - self.started
    }

    /// Nothing could be drawn now; what is missing wakes the loop when it comes.
    pub fn skipped(&mut self) {
        self.dirty = false;
    }

    /// A slice of postponed work was submitted; `more` tells whether some is left.
    /// When the last one is, the numbers are read again: some belong to postponed work.
    pub fn slice(&mut self, more: bool) {
        if std::mem::replace(&mut self.more, more) && !more {
            self.reported = self.newest.saturating_sub(1);
        }
    }

    /// Looks which frames are finished. Returns whether the first one just was.
    pub fn observe(&mut self, engine: &impl Engine, now: f64) -> bool {
        let mut first = false;
        let finished = engine.finished();
        while self
            .flights
            .front()
            .is_some_and(|flight| flight.frame <= finished)
        {
            let Some(flight) = self.flights.pop_front() else {
                break;
            };
            if !std::mem::replace(&mut self.first_seen, true) {
                first = true;
                if let Some(performance) = window().performance() {
                    // A measuring aid; a browser without marks loses nothing else.
                    let _ = performance.mark("attnscope:first-map");
                }
            }
            if let Some(input) = flight.input {
                self.latencies.push_back(now - input);
                while self.latencies.len() > KEPT_LATENCIES {
                    self.latencies.pop_front();
                }
            }
        }
        first
    }

    /// Whether numbers should be read now; then they are under way.
    pub fn report_due(&mut self, engine: &impl Engine, now: f64) -> bool {
        let due = !self.reporting
            && now - self.last_report >= REPORT_MS
            && self.reported < self.newest
            && engine.finished() >= self.newest.min(self.reported + 1)
            && !self.dirty;
        if due {
            self.reporting = true;
            self.reported = self.newest;
            self.last_report = now;
        }
        due
    }

    /// The numbers are here.
    pub fn reported(&mut self) {
        self.reporting = false;
    }

    /// Whether the loop must go on.
    pub fn wants_more(&self, engine: &impl Engine) -> bool {
        self.dirty
            || self.more
            || !self.flights.is_empty()
            || engine.in_flight() > 0
            || self.reported < self.newest
    }

    /// Whether everything is drawn and told.
    pub fn at_rest(&self) -> bool {
        !self.dirty
            && !self.more
            && self.flights.is_empty()
            && !self.reporting
            && self.reported == self.newest
    }

    /// Frames drawn so far.
    pub fn frames(&self) -> u64 {
        self.drawn
    }

    /// Times from input event to presented frame since the last call, in ms.
    pub fn take_latencies(&mut self) -> Vec<f64> {
        self.latencies.drain(..).collect()
    }
}
