//! When to ask for a graphics device again after one was lost. A browser that lost its graphics
//! process twice refuses adapters for about two minutes.

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

impl Recovery {
    /// How long to wait before the next try, in ms; `None` when there is none left.
    pub fn wait(self) -> Option<u32> {
        match self.tries {
            0 => Some(SOON),
            n if n <= LATER_TRIES => Some(LATER),
            _ => None,
        }
    }

    /// A device is asked for now, by the clock or by the reader.
    pub fn tried(&mut self) {
        self.tries += 1;
    }

    /// A device drew for `ms` before it was lost: a long time without trouble starts anew.
    pub fn drew(&mut self, ms: f64) {
        if ms > f64::from(LATER) {
            self.tries = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_try_soon_two_later_and_no_more() {
        let mut recovery = Recovery::default();
        let mut waits = Vec::new();
        while let Some(ms) = recovery.wait() {
            waits.push(ms);
            recovery.tried();
            // A device that is lost again at once gives no new tries.
            recovery.drew(4_000.0);
        }
        assert_eq!(waits, [1_500, 120_000, 120_000]);
        recovery.drew(3_600_000.0);
        assert_eq!(recovery.wait(), Some(1_500));
    }
}
