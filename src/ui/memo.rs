//! Derived values, effects and callbacks of which the reactive graph knows one type each: leptos
//! writes its code anew for every type of value and of closure.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use leptos::prelude::{ArcMemo, Callback, Effect, Get, Track, on_cleanup, untrack};
use leptos::reactive::graph::{Subscriber, ToAnySubscriber};

/// A derived value; tells those who read it when it has changed.
pub struct Memo<T> {
    value: leptos::prelude::Memo<Shared>,
    of: PhantomData<fn() -> T>,
}

/// Derives a value from the signals and memos that the closure reads.
pub fn memo<T>(value: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    Memo {
        value: derive(Box::new(move || Shared::new(value()))),
        of: PhantomData,
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Memo<T> {}

impl<T: 'static> Memo<T> {
    /// The value, followed.
    pub fn get(self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// The value as it is now.
    pub fn get_untracked(self) -> T
    where
        T: Clone,
    {
        untrack(|| self.get())
    }

    /// What a closure makes of the value, which is followed.
    pub fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        let shared = current(self.value);
        let value: &dyn Any = &*shared.0;
        match value.downcast_ref() {
            Some(value) => read(value),
            // `memo` alone makes memos, of this very type.
            None => unreachable!(),
        }
    }

    /// Follows the value without reading it.
    pub fn track(self) {
        self.value.track();
    }
}

/// A value behind a pointer, equal when the values are.
#[derive(Clone)]
struct Shared(Arc<dyn Held>);

impl Shared {
    fn new(value: impl Held) -> Self {
        Self(Arc::new(value))
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&*other.0)
    }
}

trait Held: Any + Send + Sync {
    fn equals(&self, other: &dyn Any) -> bool;
}

impl<T: PartialEq + Send + Sync + 'static> Held for T {
    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

// A trait of one's own makes a smaller table than `dyn Fn`, which can be called in three ways.

trait Derive: Send + Sync {
    fn value(&self) -> Shared;
}

impl<F: Fn() -> Shared + Send + Sync> Derive for F {
    fn value(&self) -> Shared {
        self()
    }
}

fn derive(from: Box<dyn Derive>) -> leptos::prelude::Memo<Shared> {
    let memo = ArcMemo::new(move |_| from.value());
    leave(&memo);
    memo.into()
}

fn current(memo: leptos::prelude::Memo<Shared>) -> Shared {
    memo.get()
}

/// Runs now and whenever something changes that it reads.
pub fn effect(run: impl FnMut() + 'static) {
    boxed_effect(Box::new(run));
}

fn boxed_effect(mut run: Box<dyn FnMut()>) {
    leave(&Effect::new(move |_: Option<()>| run()));
}

/// Takes `reader` off the lists of what it has read when its owner goes. The graph itself does
/// not: whatever stays would keep the memory of all that ever read it, and walk through them at
/// every change.
pub fn leave(reader: &impl ToAnySubscriber) {
    let subscriber = reader.to_any_subscriber();
    on_cleanup(move || subscriber.clear_sources(&subscriber));
}

trait Take<T>: Send + Sync {
    fn take(&self, value: T);
}

impl<T, F: Fn(T) + Send + Sync> Take<T> for F {
    fn take(&self, value: T) {
        self(value);
    }
}

/// A callback that takes a value.
pub fn taker<T: 'static>(take: impl Fn(T) + Send + Sync + 'static) -> Callback<T> {
    boxed_taker(Box::new(take))
}

fn boxed_taker<T: 'static>(taker: Box<dyn Take<T>>) -> Callback<T> {
    Callback::new(move |value| taker.take(value))
}
