//! When to ask for a graphics device again after one was lost, and when to start a worker again that
//! stopped. A browser that lost its graphics process twice refuses adapters for about two minutes.

use super::EngineError;

/// Wait after the first loss, in ms.
const SOON: u32 = 1_500;
/// Wait after every further one.
const LATER: u32 = 120_000;
/// Further tries at most.
const LATER_TRIES: u32 = 2;

/// How often a device was asked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    tries: u32,
}

/// Who asks for the device again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// Nobody: there is nothing to ask, or the question is still open.
    #[default]
    Nobody,
    /// The reader may; if it is asked for without the reader, then at once.
    Reader,
    /// The page within two minutes, or the reader.
    Later,
    /// The reader only: the page has given up.
    GivenUp,
}

impl Recovery {
    /// How long to wait before the next try, in ms; `None` when there is none left.
    pub fn wait(self) -> Option<u32> {
        match self.tries {
            0 => Some(SOON),
            n if n <= LATER_TRIES => Some(LATER),
            _ => None,
        }
    }

    /// Who asks again, when the device does not draw because of `why`.
    pub fn again(self, why: &EngineError) -> Again {
        match (why, self.tries) {
            (EngineError::NoWebGpu | EngineError::NoCpu(_), _) | (EngineError::NoAnswer, 0) => {
                Again::Nobody
            }
            (_, 0) => Again::Reader,
            _ if self.wait().is_some() => Again::Later,
            _ => Again::GivenUp,
        }
    }

    /// A device is asked for now, by the clock or by the reader.
    pub fn tried(&mut self) {
        self.tries += 1;
    }

    /// A device that drew for `ms` was lost because of `why`. A long time without trouble starts
    /// anew; a device that no longer answers would not do so at once either.
    pub fn lost(&mut self, ms: f64, why: &EngineError) {
        if ms > f64::from(LATER) {
            self.tries = 0;
        }
        if *why == EngineError::Stalled {
            self.tries = self.tries.max(1);
        }
    }
}

/// Further starts of a worker that stops; a long time without trouble starts anew.
const RESTARTS: u32 = 3;

/// How often a worker has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restarts {
    stops: u32,
}

impl Restarts {
    /// A worker that had run for `ms` has stopped. Returns whether to start it again.
    pub fn stopped(&mut self, ms: f64) -> bool {
        if ms > f64::from(LATER) {
            self.stops = 0;
        }
        self.stops += 1;
        self.stops <= RESTARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_try_soon_two_later_and_no_more() {
        let lost = EngineError::DeviceLost(String::new());
        let mut recovery = Recovery::default();
        let mut waits = Vec::new();
        let mut says = vec![recovery.again(&lost)];
        while let Some(ms) = recovery.wait() {
            waits.push(ms);
            recovery.tried();
            // A device that is lost again at once gives no new tries.
            recovery.lost(4_000.0, &lost);
            says.push(recovery.again(&lost));
        }
        assert_eq!(waits, [1_500, 120_000, 120_000]);
        let want = [Again::Reader, Again::Later, Again::Later, Again::GivenUp];
        assert_eq!(says, want);
        recovery.lost(3_600_000.0, &lost);
        assert_eq!(recovery.wait(), Some(1_500));
    }

    #[test]
    fn a_device_that_no_longer_answers_is_not_asked_for_at_once() {
        let mut recovery = Recovery::default();
        recovery.lost(3_600_000.0, &EngineError::Stalled);
        assert_eq!(recovery.wait(), Some(120_000));
        assert_eq!(recovery.again(&EngineError::Stalled), Again::Later);
    }

    #[test]
    fn where_there_is_nothing_to_ask_nobody_asks() {
        let recovery = Recovery::default();
        for why in [EngineError::NoWebGpu, EngineError::NoAnswer] {
            assert_eq!(recovery.again(&why), Again::Nobody);
        }
        assert_eq!(recovery.again(&EngineError::NoAdapter), Again::Reader);
    }

    #[test]
    fn a_worker_that_stops_is_started_three_times() {
        let mut restarts = Restarts::default();
        let again = [0.0, 119_000.0, 0.0, 5_000.0, 0.0].map(|ms| restarts.stopped(ms));
        assert_eq!(again, [true, true, true, false, false]);
        // Two minutes of work are no trouble.
        let again = [121_000.0, 0.0, 0.0, 0.0].map(|ms| restarts.stopped(ms));
        assert_eq!(again, [true, true, true, false]);
    }
}
