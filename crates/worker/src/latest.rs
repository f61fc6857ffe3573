//! "The newest wins": a slow request has a key, and only the answer to the newest key counts.

/// The requested keys, and the last value.
#[derive(Clone, Debug)]
pub struct Latest<K, V> {
    /// The newest key.
    wanted: Option<K>,
    /// The key of the pending request.
    open: Option<K>,
    /// The last answer that counted, and its key; `None` is the answer that there is no value.
    answered: Option<(K, Option<V>)>,
}

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Self {
            wanted: None,
            open: None,
            answered: None,
        }
    }
}

impl<K: PartialEq + Clone, V> Latest<K, V> {
    /// The value for `key`, if it has arrived.
    pub fn get(&self, key: &K) -> Option<&V> {
        let (of, value) = self.answered.as_ref()?;
        value.as_ref().filter(|_| of == key)
    }

    /// The last value: that of an older key while a newer one is pending.
    pub fn last(&self) -> Option<&V> {
        self.answered.as_ref()?.1.as_ref()
    }

    /// The newest key.
    pub fn wanted(&self) -> Option<&K> {
        self.wanted.as_ref()
    }

    /// Makes `key` the newest. Returns whether to request it now: not while an answer is pending
    /// (one request at a time), nor when it was already answered, with or without a value.
    #[must_use = "what nobody asks for never comes"]
    pub fn want(&mut self, key: &K) -> bool {
        self.wanted = Some(key.clone());
        let asks = self.open.is_none() && !self.is_answered(key);
        if asks {
            self.open = Some(key.clone());
        }
        asks
    }

    /// Makes `key` the newest and replaces the pending request. Returns whether to request it now:
    /// not when it was already requested or answered.
    #[must_use = "what nobody asks for never comes"]
    pub fn supersede(&mut self, key: &K) -> bool {
        if self.open.as_ref() != Some(key) {
            self.open = None;
        }
        self.want(key)
    }

    /// Cancels: no key is wanted, and the pending answer will be dropped.
    pub fn want_nothing(&mut self) {
        self.wanted = None;
    }

    /// Whether `key` is the newest.
    pub fn is_wanted(&self, key: &K) -> bool {
        self.wanted.as_ref() == Some(key)
    }

    /// Whether an answer is pending.
    pub fn waits(&self) -> bool {
        self.open.is_some()
    }

    /// Whether `key` was answered, with a value or without.
    pub fn is_answered(&self, key: &K) -> bool {
        self.answered.as_ref().is_some_and(|(of, _)| of == key)
    }

    /// Records the answer to `key`: a value, or nothing. Returns whether it counts: the answer to
    /// an older key is dropped.
    pub fn answer(&mut self, key: &K, value: Option<V>) -> bool {
        if self.open.as_ref() == Some(key) {
            self.open = None;
        }
        if !self.is_wanted(key) {
            return false;
        }
        self.answered = Some((key.clone(), value));
        true
    }

    /// Lets a key that was answered with nothing be requested again.
    pub fn retry(&mut self) {
        self.answered.take_if(|(_, value)| value.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_asked_for_once_and_its_value_stays() {
        let mut latest = Latest::default();
        assert!(latest.want(&1));
        assert!(latest.waits() && !latest.want(&1));
        assert!(latest.answer(&1, Some("one")));
        assert!(!latest.waits() && !latest.want(&1));
        assert_eq!((latest.get(&1), latest.get(&2)), (Some(&"one"), None));
    }

    #[test]
    fn one_request_at_a_time_and_the_newest_is_next() {
        let mut latest = Latest::default();
        assert!(latest.want(&1));
        assert!(!latest.want(&2) && !latest.want(&3));
        assert!(!latest.answer(&1, Some("one")), "nobody wants it any more");
        assert_eq!(latest.last(), None);
        assert!(latest.want(&3));
        assert!(latest.answer(&3, Some("three")));
        assert_eq!(latest.last(), Some(&"three"));
    }

    #[test]
    fn a_newer_request_takes_the_place_of_an_older_one() {
        let mut latest = Latest::default();
        assert!(latest.supersede(&1));
        assert!(!latest.supersede(&1), "it is on its way");
        assert!(latest.supersede(&2));
        assert!(!latest.answer(&1, Some("one")) && latest.waits());
        assert!(latest.answer(&2, Some("two")) && !latest.waits());
        assert!(latest.supersede(&1));
        assert_eq!(latest.last(), Some(&"two"), "until the newer is there");
    }

    #[test]
    fn a_key_that_failed_is_asked_for_again_only_on_demand() {
        let mut latest = Latest::<_, &str>::default();
        assert!(latest.want(&1));
        assert!(latest.answer(&1, None));
        assert!(latest.is_answered(&1) && !latest.waits());
        assert!(!latest.want(&1));
        latest.retry();
        assert!(latest.want(&1));
    }

    #[test]
    fn what_is_no_longer_wanted_is_dropped() {
        let mut latest = Latest::default();
        assert!(latest.want(&1));
        latest.want_nothing();
        assert!(!latest.answer(&1, Some("one")) && !latest.waits());
        assert_eq!(latest.last(), None);
    }
}
