//! What [`view!`] writes to: DOM nodes that follow signals. Few functions and few types, so that
//! the page stays small; the reactivity is that of leptos.

use std::borrow::Cow;
use std::cell::RefCell;

use leptos::component::{ComponentConstructor, component_view};
use leptos::html::ElementType;
use leptos::prelude::*;
use leptos::tachys::html::node_ref::NodeRefContainer as _;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, HtmlElement, Node, Text};

use crate::ui::memo::{leave, memo};
use attnscope_text::symbols::{self, Part};

pub use attnscope_markup::view;

mod values;

use self::values::{Bound, Child, Handle, Live, Make, Source};

/// A part of the page: an element, a text, or a group of them.
#[derive(Clone, Debug)]
#[must_use = "a view is shown only where it is added"]
pub struct View(Node);

/// An element of HTML.
pub fn element(tag: &str) -> View {
    View(document().create_element(tag).unwrap_throw().into())
}

/// An element of SVG.
pub fn svg(tag: &str) -> View {
    let element = document().create_element_ns(Some("http://www.w3.org/2000/svg"), tag);
    View(element.unwrap_throw().into())
}

/// Several nodes, or none, without an element around them.
pub fn group() -> View {
    View(document().create_document_fragment().into())
}

/// A component, built untracked: what it reads outside of closures does not build it again.
pub fn component<P>(of: impl ComponentConstructor<P, View>, props: P) -> View {
    untrack(|| component_view(of, props))
}

/// One of two views, built anew whenever the condition changes.
pub fn show(
    when: impl Fn() -> bool + Send + Sync + 'static,
    children: impl Fn() -> View + 'static,
    fallback: impl Fn() -> View + 'static,
) -> View {
    let when = memo(when);
    let view = group();
    follow_view(
        &view.0,
        Box::new(move || if when.get() { children() } else { fallback() }),
    );
    view
}

/// As many views as `count` says. Those that stay are kept, with their focus; each is one element.
pub fn each(count: impl Fn() -> usize + 'static, item: impl Fn(usize) -> View + 'static) -> View {
    let view = group();
    let end = marker(&view.0);
    let owner = Owner::current().unwrap_or_default();
    let items = RefCell::new(Vec::<(Owner, Node)>::new());
    follow(Box::new(move || {
        let count = count();
        let mut items = items.borrow_mut();
        while items.len() > count {
            if let Some((owner, node)) = items.pop() {
                owner.cleanup();
                remove(&node);
            }
        }
        while items.len() < count {
            let owner = owner.child();
            let View(node) = owner.with(|| untrack(|| item(items.len())));
            insert(&node, &end);
            items.push((owner, node));
        }
    }));
    view
}

/// Puts a view at the end of the page.
pub fn mount(view: &View) {
    if let Some(body) = document().body() {
        append(&body, &view.0);
    }
}

/// Gives the focus to the element of an id, if it is there and takes it.
pub fn focus(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        let _ = element.unchecked_ref::<HtmlElement>().focus();
    }
}

/// A text, or nothing.
pub type Words = Option<Cow<'static, str>>;

/// What a value of an element is set as.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// An attribute; without a value it is not there.
    Attribute,
    /// A class that is there or not.
    Class,
    /// A property of its style.
    Style,
    /// A property of the DOM object.
    Property,
}

impl View {
    /// An attribute that never changes.
    pub fn fixed(self, name: &str, value: &str) -> Self {
        // Only a malformed name is refused, and ours are not.
        let _ = self.element().set_attribute(name, value);
        self
    }

    /// A value, or a closure whose value is followed.
    pub fn bind(self, target: Target, name: &'static str, value: impl Bound) -> Self {
        match value.source() {
            Source::Fixed(words) => write(self.element(), target, name, &words),
            Source::Live(source) => self.follow_value(target, name, source),
        }
        self
    }

    fn follow_value(&self, target: Target, name: &'static str, source: Box<dyn Live>) {
        let element = self.element().clone();
        let mut last = None;
        follow(Box::new(move || {
            let now = source.words();
            if last.as_ref() != Some(&now) {
                write(&element, target, name, &now);
                last = Some(now);
            }
        }));
    }

    /// Calls a handler at every event of a name.
    pub fn on<E: JsCast>(self, name: &str, mut handler: impl FnMut(E) + 'static) -> Self {
        self.listen(
            name,
            Box::new(move |event: Event| handler(event.unchecked_into())),
        );
        self
    }

    fn listen(&self, name: &str, mut handler: Box<dyn Handle>) {
        // Owned by the listener from here on: it is freed with the element.
        let handler = Closure::<dyn FnMut(Event)>::new(move |event| handler.handle(event));
        let handler = handler.into_js_value();
        let _ = self
            .0
            .add_event_listener_with_callback(name, handler.unchecked_ref());
    }

    /// Lets `node` know of this element.
    pub fn node_ref<E>(self, node: NodeRef<E>) -> Self
    where
        E: ElementType,
        E::Output: JsCast + 'static,
    {
        node.load(self.element());
        self
    }

    /// Adds a text, a view, several, or a closure that gives one of them and is followed.
    pub fn child(self, child: impl Child) -> Self {
        child.append_to(&self.0);
        self
    }

    fn element(&self) -> &Element {
        self.0.unchecked_ref()
    }
}

impl FromIterator<View> for View {
    fn from_iter<I: IntoIterator<Item = View>>(views: I) -> Self {
        views.into_iter().fold(group(), View::child)
    }
}

/// Runs now, and again whenever a signal changes that it read, until its owner is gone.
fn follow(mut run: Box<dyn FnMut()>) {
    let effect = RenderEffect::new(move |_| run());
    leave(&effect);
    StoredValue::new_local(effect);
}

fn write(element: &Element, target: Target, name: &str, words: &Words) {
    // What a browser refuses here is a malformed name, and ours are not.
    let _ = match (target, words) {
        (Target::Attribute, Some(text)) => element.set_attribute(name, &symbols::spoken(text)),
        (Target::Attribute, None) => element.remove_attribute(name),
        (Target::Class, words) => element
            .class_list()
            .toggle_with_force(name, words.is_some())
            .map(drop),
        (Target::Style, words) => element
            .unchecked_ref::<HtmlElement>()
            .style()
            .set_property(name, words.as_deref().unwrap_or_default()),
        (Target::Property, words) => {
            let value = match words.as_deref() {
                _ if name == "checked" => JsValue::from_bool(words.is_some()),
                text => JsValue::from_str(text.unwrap_or_default()),
            };
            js_sys::Reflect::set(element, &name.into(), &value).map(drop)
        }
    };
}

/// A text with its symbols that follows `source`.
fn follow_text(parent: &Node, source: Box<dyn Live>) {
    let shown = Shown::at_end_of(parent);
    let mut last = None;
    follow(Box::new(move || {
        let now = source.words();
        if last.as_ref() != Some(&now) {
            shown.set(now.as_deref().unwrap_or_default());
            last = Some(now);
        }
    }));
}

fn append_text(words: &Words, parent: &Node) {
    Shown::at_end_of(parent).set(words.as_deref().unwrap_or_default());
}

/// A text on screen: one text node for what has no symbols, and behind it the rest of what has.
struct Shown {
    text: Text,
    rest: RefCell<Vec<Node>>,
}

impl Shown {
    fn at_end_of(parent: &Node) -> Self {
        let text = document().create_text_node("");
        append(parent, &text);
        let rest = RefCell::default();
        Self { text, rest }
    }

    fn set(&self, words: &str) {
        let mut rest = self.rest.borrow_mut();
        rest.drain(..).for_each(|node| remove(&node));
        if !symbols::has_any(words) {
            return self.text.set_data(words);
        }
        let parent = self.text.parent_element();
        if parent.is_some_and(|parent| parent.tag_name() == "OPTION") {
            // It shows no markup. A name of its own would differ from what is to be seen.
            self.text.set_data(&symbols::flat(words));
            return;
        }
        let mut parts = symbols::parts(words).peekable();
        let first = parts.next_if(|part| matches!(part, Part::Plain(_)));
        self.text.set_data(match first {
            Some(Part::Plain(words)) => words,
            _ => "",
        });
        let after = self.text.next_sibling();
        let Some(parent) = self.text.parent_node() else {
            return;
        };
        for part in parts {
            let node = match part {
                Part::Plain(words) => document().create_text_node(words).into(),
                // The space makes two words of it for whoever hears it; it takes no room.
                Part::Below(words) => small_element("sub", &format!(" {words}")),
                Part::Code(words) => small_element("code", words),
            };
            // Refused only where the place is not among the children.
            let _ = parent.insert_before(&node, after.as_ref());
            rest.push(node);
        }
    }
}

fn small_element(tag: &str, words: &str) -> Node {
    let View(node) = element(tag);
    node.set_text_content(Some(words));
    node
}

/// Nodes between two markers that follow `make`.
fn follow_view(parent: &Node, make: Box<dyn Make>) {
    let (start, end) = (marker(parent), marker(parent));
    follow(Box::new(move || {
        let View(new) = make.view();
        while let Some(old) = start.next_sibling().filter(|old| *old != end) {
            remove(&old);
        }
        insert(&new, &end);
    }));
}

fn marker(parent: &Node) -> Node {
    let marker = document().create_comment("").into();
    append(parent, &marker);
    marker
}

// The DOM refuses none of the three: the nodes are ours and in place.

fn append(parent: &Node, child: &Node) {
    let _ = parent.append_child(child);
}

fn insert(node: &Node, before: &Node) {
    if let Some(parent) = before.parent_node() {
        let _ = parent.insert_before(node, Some(before));
    }
}

fn remove(node: &Node) {
    if let Some(parent) = node.parent_node() {
        let _ = parent.remove_child(node);
    }
}
