//! When to request a graphics device again after one was lost, and when to restart a worker that
//! stopped. A browser that lost its graphics process twice refuses adapters for about two minutes.

use super::EngineError;

/// Wait after the first loss, in ms.
const SOON: u32 = 1_500;
/// Wait after every further loss.
const LATER: u32 = 120_000;
/// Maximum number of further tries.
const LATER_TRIES: u32 = 2;

/// How many times a device was requested again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    tries: u32,
}

/// Who requests the device again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// Nobody: there is nothing to request, or a request is still pending.
    #[default]
    Nobody,
    /// The reader may; if the page requests a device by itself, it does so at once.
    Reader,
    /// The page within two minutes, or the reader.
    Later,
    /// Only the reader: the page has given up.
    GivenUp,
}

impl Recovery {
    /// How long to wait before the next try, in ms; `None` when none is left.
    pub fn wait(self) -> Option<u32> {
        match self.tries {
            0 => Some(SOON),
            n if n <= LATER_TRIES => Some(LATER),
            _ => None,
        }
    }

    /// Who requests the device again, when it does not draw because of `why`.
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

    /// The page or the reader requests a device now.
    pub fn tried(&mut self) {
        self.tries += 1;
    }

    /// A device that drew for `ms` was lost because of `why`. A long time without a loss resets the
    /// count; a device that no longer answers would not recover at once either.
    pub fn lost(&mut self, ms: f64, why: &EngineError) {
        if ms > f64::from(LATER) {
            self.tries = 0;
        }
        if *why == EngineError::Stalled {
            self.tries = self.tries.max(1);
        }
    }
}

/// Maximum restarts of a worker that stops; a long time without a stop resets the count.
const RESTARTS: u32 = 3;

/// How many times a worker has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restarts {
    stops: u32,
}

impl Restarts {
    /// A worker that ran for `ms` has stopped. Returns whether to restart it.
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
        // Two minutes of work reset the count.
        let again = [121_000.0, 0.0, 0.0, 0.0].map(|ms| restarts.stopped(ms));
        assert_eq!(again, [true, true, true, false]);
    }
}
