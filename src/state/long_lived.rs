//! State that outlives its readers.
//!
//! `reactive_graph` 0.2 never removes a disposed effect or memo from the subscriber lists of the
//! signals it read (see `docs/upstream/reactive_graph-dead-subscribers.md`). A signal that lives as
//! long as the page would keep an entry for every view that ever read it. [`LongLived`] fixes the leak
//! where a value is read: the read registers a clean-up with the reader's owner that unsubscribes the
//! reader.

use std::panic::Location;

use reactive_graph::computed::{ArcMemo, Memo};
use reactive_graph::graph::{AnySource, AnySubscriber, Observer, Source as _, ToAnySource as _};
use reactive_graph::owner::on_cleanup;
use reactive_graph::signal::RwSignal;
use reactive_graph::traits::{DefinedAt, IsDisposed, Notify, ReadUntracked, Track, Write};

/// A signal or memo whose readers unsubscribe when they are disposed. Use it for state that
/// outlives the views that read it: it reads and writes like what it wraps.
///
/// The reader and the current owner must end together, as they do in effects, memos and closures of
/// a view. Do not read one directly in the body of a `For` child: that subscribes the whole list.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongLived<S>(S);

impl<S> LongLived<S> {
    /// Wraps a signal or a memo.
    pub const fn new(source: S) -> Self {
        Self(source)
    }
}

/// What a [`LongLived`] can wrap.
pub trait Subscribable: Track {
    /// The node that holds the list of readers.
    fn source(&self) -> AnySource;
}

impl<T: Send + Sync + 'static> Subscribable for RwSignal<T> {
    fn source(&self) -> AnySource {
        self.to_any_source()
    }
}

impl<T: Send + Sync + 'static> Subscribable for Memo<T> {
    fn source(&self) -> AnySource {
        ArcMemo::from(*self).to_any_source()
    }
}

impl<S: Subscribable> Track for LongLived<S> {
    fn track(&self) {
        self.0.track();
        if let Some(reader) = Observer::get() {
            unsubscribe_with_owner(self.0.source(), reader);
        }
    }
}

/// Also removes a reader that was dropped before its owner: the list compares addresses, and the
/// entry keeps an address from being reused.
fn unsubscribe_with_owner(source: AnySource, reader: AnySubscriber) {
    on_cleanup(move || source.remove_subscriber(&reader));
}

impl<S> DefinedAt for LongLived<S> {
    fn defined_at(&self) -> Option<&'static Location<'static>> {
        None
    }
}

impl<S: IsDisposed> IsDisposed for LongLived<S> {
    fn is_disposed(&self) -> bool {
        self.0.is_disposed()
    }
}

impl<S: ReadUntracked> ReadUntracked for LongLived<S> {
    type Value = S::Value;

    fn try_read_untracked(&self) -> Option<Self::Value> {
        self.0.try_read_untracked()
    }
}

impl<S: Notify> Notify for LongLived<S> {
    fn notify(&self) {
        self.0.notify();
    }
}

impl<S: Write> Write for LongLived<S> {
    type Value = S::Value;

    fn try_write(
        &self,
    ) -> Option<impl reactive_graph::traits::UntrackableGuard<Target = Self::Value>> {
        self.0.try_write()
    }

    fn try_write_untracked(&self) -> Option<impl std::ops::DerefMut<Target = Self::Value>> {
        self.0.try_write_untracked()
    }
}
