//! Decides when to draw: the newest change wins, at most two frames are in flight, other work waits
//! until the hand rests. Also measures the time from an input event to the presented frame.

use std::cell::Cell;
use std::collections::VecDeque;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::scheduler::REST_MS;
use attnscope_engine::Engine;

/// Submissions that the device may have unfinished before the next frame is drawn.
const IN_FLIGHT: u32 = 2;
/// The same for a software adapter: it uses the cores that the page needs, so a queue would only
/// delay the picture.
const IN_FLIGHT_SOFTWARE: u32 = 1;
/// A map that takes several submits is finished before the next one begins, unless it takes longer
/// than this: pictures must neither starve nor be stale.
const PATIENCE_MS: f64 = 250.0;
/// Shortest time between two reports of the numbers beside the picture.
const REPORT_MS: f64 = 120.0;
/// A device that does not answer for this many seconds of a visible page never will: no submit
/// takes longer, and a browser drops a graphics card sooner.
const SILENCE: u32 = 10;
/// A software adapter that shares its cores may compile a shader for several seconds.
const SILENCE_SOFTWARE: u32 = 30;
const KEPT_LATENCIES: usize = 4096;

thread_local! {
    /// Time stamp of the newest input event.
    static INPUT: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Notes the time of every event that can change the Scene, before its handlers run.
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

/// There is an input event that no frame shows yet.
pub fn has_input() -> bool {
    INPUT.with(Cell::get).is_some()
}

struct Flight {
    frame: u64,
    input: Option<f64>,
}

/// The state of the loop.
// Independent flags, each read by its name; an enum of their combinations would hide them.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
pub struct FramePacing {
    asked: bool,
    /// Seconds since the last animation frame in which one was requested.
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
    /// Something has changed.
    pub fn changed(&mut self, now: f64) {
        self.dirty = true;
        self.rested = false;
        self.changed = now;
    }

    /// Another engine draws from now on, and its frame numbers start anew.
    pub fn restart(&mut self, now: f64) {
        self.flights.clear();
        (self.newest, self.reported) = (0, 0);
        (self.more, self.reporting) = (false, false);
        (self.completed, self.silence) = (None, 0);
        self.engines += 1;
        self.changed(now);
    }

    /// Called after each second on a visible page; counts calls instead of time, so that a machine
    /// that slept adds one. Returns whether the device has stopped answering: any answer is
    /// progress, however long the whole takes.
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

    /// Number of the engine that draws; answers of earlier ones are ignored.
    pub fn engine(&self) -> u32 {
        self.engines
    }

    /// An animation frame must be requested.
    pub fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    /// An animation frame has come.
    pub fn frame_came(&mut self) {
        self.starved = 0;
        self.asked = false;
    }

    /// A stand-in for an animation frame has come.
    pub fn frame_missed(&mut self) {
        self.asked = false;
    }

    /// Called after each second on a visible page, counted as in [`FramePacing::is_silent`].
    pub fn second(&mut self) {
        self.starved += u32::from(self.asked);
    }

    /// The browser gives a visible page no animation frames, as Firefox does after a device is lost
    /// while its picture was under way.
    pub fn is_starved(&self) -> bool {
        self.starved >= 2
    }

    /// The picture is older than the Scene.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// The hand is at rest.
    pub fn rests(&self, now: f64) -> bool {
        now - self.changed >= REST_MS
    }

    /// The hand has just come to rest, and its picture is drawn.
    pub fn comes_to_rest(&mut self, now: f64) -> bool {
        self.rests(now) && !self.dirty && !std::mem::replace(&mut self.rested, true)
    }

    /// The device can take another frame.
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

    /// A map that is still being computed must make way for a newer Scene.
    pub fn gives_up(&self, now: f64) -> bool {
        self.dirty && now - self.started > PATIENCE_MS
    }

    /// How long the newest frame has been on its way, in ms.
    pub fn waits_for(&self, now: f64) -> f64 {
        now - self.started
    }

    /// Nothing could be drawn; what is missing wakes the loop when it arrives.
    pub fn skipped(&mut self) {
        self.dirty = false;
    }

    /// A slice of postponed work was submitted; `more` tells whether some is left. After the last
    /// slice the numbers are read again, since some belong to postponed work.
    pub fn slice(&mut self, more: bool) {
        if std::mem::replace(&mut self.more, more) && !more {
            self.reported = self.newest.saturating_sub(1);
        }
    }

    /// Checks which frames have finished. Returns whether the first one just did.
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
                    // For measurements only; a browser without marks loses nothing else.
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

    /// Numbers should be read now; they then count as pending.
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

    /// The numbers have arrived.
    pub fn reported(&mut self) {
        self.reporting = false;
    }

    /// The loop must go on.
    pub fn wants_more(&self, engine: &impl Engine) -> bool {
        self.dirty
            || self.more
            || !self.flights.is_empty()
            || engine.in_flight() > 0
            || self.reported < self.newest
    }

    /// Everything is drawn and reported.
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

    /// Latencies from input event to presented frame since the last call, in ms.
    pub fn take_latencies(&mut self) -> Vec<f64> {
        self.latencies.drain(..).collect()
    }
}
