//! What can stand in the markup: fixed words and closures that are followed.

use std::borrow::Cow;

use web_sys::{Event, Node};

use super::{View, Words, append, append_text, follow_text, follow_view, group};

/// What [`View::bind`] takes.
pub trait Bound {
    /// As one type.
    fn source(self) -> Source;
}

/// A value that stays or one that is followed.
pub enum Source {
    /// Stays.
    Fixed(Words),
    /// Is followed.
    Live(Box<dyn Live>),
}

// A trait of one's own makes a smaller table than `dyn Fn`, which can be called in three ways.

/// A text that is followed.
pub trait Live {
    /// The text now.
    fn words(&self) -> Words;
}

impl<F: Fn() -> V, V: Value> Live for F {
    fn words(&self) -> Words {
        self().words()
    }
}

/// Makes a view, whenever it is asked to.
pub trait Make {
    /// The view now.
    fn view(&self) -> View;
}

impl<F: Fn() -> View> Make for F {
    fn view(&self) -> View {
        self()
    }
}

/// Handles events.
pub trait Handle {
    /// One event.
    fn handle(&mut self, event: Event);
}

impl<F: FnMut(Event)> Handle for F {
    fn handle(&mut self, event: Event) {
        self(event);
    }
}

/// A value as text.
pub trait Value {
    /// `true` is there and empty, `false` and `None` are not there.
    fn words(self) -> Words;
}

impl<F: Fn() -> V + 'static, V: Value> Bound for F {
    fn source(self) -> Source {
        Source::Live(Box::new(self))
    }
}

/// What [`View::child`] takes.
pub trait Child {
    /// Adds it as the last child.
    fn append_to(self, parent: &Node);
}

/// What a closure among children may give.
pub trait Content: Sized {
    /// Adds nodes that follow a closure.
    fn follow(source: impl Fn() -> Self + 'static, parent: &Node);
}

impl<F: Fn() -> C + 'static, C: Content> Child for F {
    fn append_to(self, parent: &Node) {
        C::follow(self, parent);
    }
}

impl Child for View {
    fn append_to(self, parent: &Node) {
        append(parent, &self.0);
    }
}

impl<C: Child> Child for Option<C> {
    fn append_to(self, parent: &Node) {
        if let Some(child) = self {
            child.append_to(parent);
        }
    }
}

impl<const N: usize> Child for [View; N] {
    fn append_to(self, parent: &Node) {
        for view in self {
            view.append_to(parent);
        }
    }
}

impl Content for View {
    fn follow(source: impl Fn() -> Self + 'static, parent: &Node) {
        follow_view(parent, Box::new(source));
    }
}

impl Content for Option<View> {
    fn follow(source: impl Fn() -> Self + 'static, parent: &Node) {
        follow_view(parent, Box::new(move || source().unwrap_or_else(group)));
    }
}

/// Types that are one text.
macro_rules! values {
    ($($of:ty: $value:ident => $words:expr;)+) => {$(
        impl Value for $of {
            fn words(self) -> Words {
                let $value = self;
                $words
            }
        }

        impl Bound for $of {
            fn source(self) -> Source {
                Source::Fixed(self.words())
            }
        }

        impl Content for $of {
            fn follow(source: impl Fn() -> Self + 'static, parent: &Node) {
                follow_text(parent, Box::new(source));
            }
        }
    )+};
}

values! {
    &'static str: it => Some(it.into());
    String: it => Some(it.into());
    Option<&'static str>: it => it.map(Cow::Borrowed);
    Option<String>: it => it.map(Cow::Owned);
    bool: it => it.then_some(Cow::Borrowed(""));
    usize: it => Some(it.to_string().into());
    u32: it => Some(it.to_string().into());
    i32: it => Some(it.to_string().into());
    f64: it => Some(it.to_string().into());
}

/// Types that are one text and never change as a child.
macro_rules! texts {
    ($($of:ty),+) => {$(
        impl Child for $of {
            fn append_to(self, parent: &Node) {
                append_text(&self.words(), parent);
            }
        }
    )+};
}

texts!(&'static str, String, u32, usize);
