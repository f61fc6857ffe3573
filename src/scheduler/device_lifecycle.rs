//! Which engine draws: the graphics device where there is one, the CPU where there is none, when it
//! is lost, and until it answers. Nothing that the reader set depends on either.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::scheduler::active_engine::ActiveEngine;
use crate::scheduler::canvases::tried;
use crate::scheduler::cpu_client::CpuClient;
use crate::scheduler::{at_once, now, wake, with};
use crate::state::derived::ShownSizes;
use crate::state::problem::Problem;
use crate::state::{AppState, EngineState};
use attnscope_engine::recovery::{Again, Recovery};
use attnscope_engine::{Engine, EngineError};
use attnscope_engine_gpu::GpuEngine;

/// A browser that has not answered for so long may never do.
const ANSWER: Duration = Duration::from_secs(5);

/// A device that draws no more is kept so long.
const RETIREMENT: Duration = Duration::from_secs(1);

/// What is known about asking for a device.
#[derive(Default)]
pub struct DeviceLifecycle {
    /// Number of the newest question; answers to older ones are let go.
    attempt: u32,
    recovery: Recovery,
    /// Since when the device draws.
    since: f64,
}

/// Asks for a graphics device. The CPU draws when there is none, and while there is no answer.
pub fn probe(state: AppState) {
    let attempt = with(|scheduler| {
        scheduler.engines.attempt += 1;
        scheduler.engines.attempt
    });
    spawn_local(async move {
        let opened = GpuEngine::new().await;
        if !is_newest(attempt) {
            return;
        }
        match opened {
            Ok(engine) => use_gpu(state, engine),
            Err(why) => use_cpu(state, why),
        }
    });
    set_timeout(
        move || {
            let waits = state.engine.with_untracked(|engine| {
                matches!(engine, EngineState::Probing | EngineState::Recovering(_))
            });
            if waits && is_newest(attempt) {
                use_cpu(state, EngineError::NoAnswer);
            }
        },
        ANSWER,
    );
}

fn is_newest(attempt: Option<u32>) -> bool {
    with(|scheduler| scheduler.engines.attempt) == attempt
}

fn use_gpu(state: AppState, engine: GpuEngine) {
    engine.on_loss(at_once);
    let capabilities = engine.capabilities().clone();
    let mut drawer = ActiveEngine::Gpu(Box::new(engine));
    // The CPU's picture stays unless there will be another.
    if with(|scheduler| scheduler.engine.is_some()) == Some(true)
        && let Err(why) = tried(&mut drawer)
    {
        use_cpu(state, why);
        return;
    }
    swap(|| drawer);
    if let Some(why) = with(|scheduler| scheduler.canvases.take_failure()).flatten() {
        lose(state, why);
        return;
    }
    state.tell(is_no_engine, Vec::new());
    let scale = state.scene.with_untracked(|scene| {
        let sizes = ShownSizes::expected(&scene.source);
        scene.color_scale(sizes.seq_len as usize)
    });
    with(|scheduler| {
        scheduler.engines.since = now();
        if let Some(ActiveEngine::Gpu(engine)) = &mut scheduler.engine {
            engine.warm_up(scale);
        }
    });
    state.engine.set(EngineState::Gpu(capabilities));
}

fn use_cpu(state: AppState, why: EngineError) {
    let draws = with(|scheduler| scheduler.engine.as_ref().is_some_and(ActiveEngine::is_cpu));
    if draws != Some(true) {
        swap(|| ActiveEngine::Cpu(CpuClient::new()));
    }
    let recovery = recovery();
    // Only a device that once was there is asked for by the clock.
    if recovery != Recovery::default() {
        retry_later(state, recovery);
    }
    let again = recovery.again(&why);
    state.engine.set(EngineState::Cpu(why, again));
}

fn is_no_engine(problem: &Problem) -> bool {
    matches!(problem, Problem::Engine(EngineError::NoCpu(_)))
}

fn recovery() -> Recovery {
    with(|scheduler| scheduler.engines.recovery).unwrap_or_default()
}

/// The device is of no more use: the CPU draws the same Scene, and the device is asked for again.
pub fn lose(state: AppState, why: EngineError) {
    if matches!(why, EngineError::NoCpu(_)) {
        // Neither draws any more: that is said where it is seen.
        with(|scheduler| scheduler.engine = None);
        state.tell(is_no_engine, vec![Problem::Engine(why.clone())]);
        state.engine.set(EngineState::Cpu(why, Again::Nobody));
        return;
    }
    swap(|| ActiveEngine::Cpu(CpuClient::new()));
    with(|scheduler| {
        let drew = now() - scheduler.engines.since;
        scheduler.engines.recovery.lost(drew, &why);
    });
    let recovery = recovery();
    let again = recovery.again(&why);
    state.engine.set(EngineState::Lost(why, again));
    retry_later(state, recovery);
}

/// Asks for the device again when its time has come, unless it was asked for meanwhile.
fn retry_later(state: AppState, recovery: Recovery) {
    let Some(ms) = recovery.wait() else {
        return;
    };
    let attempt = with(|scheduler| scheduler.engines.attempt);
    set_timeout(
        move || {
            if is_newest(attempt) {
                retry(state);
            }
        },
        Duration::from_millis(ms.into()),
    );
}

/// The reader asks for an engine again where there is none.
pub fn retry_engine() {
    if let Some(state) = with(|scheduler| scheduler.state) {
        state.tell(is_no_engine, Vec::new());
        retry(state);
    }
}

/// The reader asks for the device again.
pub fn retry_gpu() {
    if let Some(state) = with(|scheduler| scheduler.state) {
        retry(state);
    }
}

fn retry(state: AppState) {
    let Some(why) = state.engine.with_untracked(|e| e.trouble().cloned()) else {
        return;
    };
    with(|scheduler| scheduler.engines.recovery.tried());
    state.engine.set(EngineState::Recovering(why));
    probe(state);
}

/// The CPU engine has answered: after a loss there is a picture again.
pub fn answered() {
    let state = with(|scheduler| scheduler.state);
    if let Some(state) = state
        && let EngineState::Lost(why, again) = state.engine.get_untracked()
    {
        state.engine.set(EngineState::Cpu(why, again));
    }
    wake();
}

/// Puts another engine in the place of the one that draws.
fn swap(make: impl FnOnce() -> ActiveEngine) {
    let old = with(|scheduler| {
        let old = scheduler.engine.replace(make());
        if let Some(engine) = &mut scheduler.engine {
            scheduler.canvases.attach_all(engine);
        }
        scheduler.tell_drawn();
        scheduler.pacing.restart(now());
        old
    });
    // Not while the scheduler is borrowed: a device tells at once that it is gone.
    match old.flatten() {
        // And not while a picture is under way: Firefox would give the page no animation frame ever
        // after. The CPU's engine ends now: an answer of it must not be taken for the next one's.
        Some(ActiveEngine::Gpu(device)) => set_timeout(move || drop(device), RETIREMENT),
        other => drop(other),
    }
    wake();
}
