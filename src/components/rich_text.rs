//! Texts with symbols. The language files mark them ([`attnscope_text::symbols`]). A [`RichText`]
//! becomes markup as an element's content and spoken words as an attribute's value, so that no mark
//! reaches the page.

use std::borrow::Cow;
use std::sync::Arc;

use leptos::prelude::*;

use attnscope_text::symbols::{self, Part};

/// A text that follows the signals it reads.
#[derive(Clone)]
pub struct RichText(Arc<dyn Fn() -> Cow<'static, str> + Send + Sync>);

/// Makes a text from a closure. Use it for every text of the language files that has values filled
/// in.
pub fn rich<T>(text: impl Fn() -> T + Send + Sync + 'static) -> RichText
where
    T: Into<Cow<'static, str>>,
{
    RichText(Arc::new(move || text().into()))
}

impl RichText {
    fn now(&self) -> Cow<'static, str> {
        (self.0)()
    }

    /// For `<option>`, which shows no markup: uses Unicode subscripts.
    pub fn flat(self) -> AnyView {
        (move || symbols::flat(&self.now())).into_any()
    }
}

/// As an element's content.
impl IntoRender for RichText {
    type Output = AnyView;

    fn into_render(self) -> AnyView {
        (move || markup(&self.now())).into_any()
    }
}

/// As an attribute's value.
impl IntoAttributeValue for RichText {
    type Output = Arc<dyn Fn() -> String + Send + Sync>;

    fn into_attribute_value(self) -> Self::Output {
        Arc::new(move || symbols::spoken(&self.now()).into_owned())
    }
}

/// A constant text, as an element's content.
pub fn markup(text: &str) -> AnyView {
    if symbols::has_any(text) {
        symbols::parts(text).map(part).collect_view().into_any()
    } else {
        text.to_owned().into_any()
    }
}

fn part(part: Part<'_>) -> AnyView {
    match part {
        Part::Plain(words) => words.to_owned().into_any(),
        // The space makes a screen reader say two words; it takes no room.
        Part::Below(words) => view! { <sub>{format!(" {words}")}</sub> }.into_any(),
        Part::Code(words) => view! { <code>{words.to_owned()}</code> }.into_any(),
    }
}
