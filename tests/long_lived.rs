//! Subscriber lists of state that outlives its readers: `reactive_graph` keeps an entry for every
//! past reader, `LongLived` none. This includes the page's own file, since `src/state` is compiled
//! for wasm32 only.

#[path = "../src/state/long_lived.rs"]
mod long_lived;

use std::sync::{Arc, Weak};

use reactive_graph::computed::Memo;
use reactive_graph::graph::{
    AnySource, AnySubscriber, ReactiveNode, Subscriber, WithObserver as _,
};
use reactive_graph::owner::Owner;
use reactive_graph::signal::RwSignal;
use reactive_graph::traits::{Get, Set as _};

use long_lived::LongLived;

/// Stands for an effect: a weak pointer to it keeps its memory allocated.
struct Reader;

impl ReactiveNode for Reader {
    fn mark_dirty(&self) {}
    fn mark_check(&self) {}
    fn mark_subscribers_check(&self) {}
    fn update_if_necessary(&self) -> bool {
        false
    }
}

impl Subscriber for Reader {
    fn add_source(&self, _: AnySource) {}
    fn clear_sources(&self, _: &AnySubscriber) {}
}

/// Counts pointers to a reader of `source` that are left after its view has gone.
fn left_behind(source: &impl Get) -> usize {
    let reader = Arc::new(Reader);
    let weak = Arc::downgrade(&reader) as Weak<dyn Subscriber + Send + Sync>;
    let observer = AnySubscriber(Arc::as_ptr(&reader) as usize, weak);
    let view = Owner::new();
    view.with(|| observer.with_observer(|| drop(source.get())));
    drop(observer);
    assert!(Arc::weak_count(&reader) > 0, "it has subscribed");
    view.cleanup();
    Arc::weak_count(&reader)
}

#[test]
fn readers_of_what_is_long_lived_leave_nothing_behind() {
    let page = Owner::new();
    page.set();
    let signal = LongLived::new(RwSignal::new(1));
    let memo = LongLived::new(Memo::new(move |_| signal.get() + 1));
    for _ in 0..3 {
        assert_eq!(left_behind(&signal), 0);
        assert_eq!(left_behind(&memo), 0);
    }
    signal.set(2);
    assert_eq!(memo.get(), 3, "the memo has not left with the views");
}

/// When this fails, the crate has been fixed and `LongLived` can go.
#[test]
fn readers_of_a_plain_signal_or_memo_stay_on_its_list() {
    let page = Owner::new();
    page.set();
    let signal = RwSignal::new(1);
    let memo = Memo::new(move |_| signal.get() + 1);
    assert_eq!(left_behind(&signal), 1);
    assert_eq!(left_behind(&memo), 1);
}
