//! `view!`: the markup of leptos, written to calls of `crate::ui::markup`.
//!
//! leptos gives every element, attribute and closure a type of its own, which is fast and takes a
//! quarter of the page's code. Here all of them are calls of a few functions, and the markup reads
//! the same:
//!
//! | markup | call |
//! |---|---|
//! | `<div class="a">` | `element("div").fixed("class", "a")` |
//! | `id=x` | `.bind(Target::Attribute, "id", x)`; closures are followed |
//! | `class:a=x`, `style:a=x`, `prop:a=x` | `.bind(Target::Class, "a", x)` and so on |
//! | `on:click=f` | `.on::<web_sys::MouseEvent>("click", f)` |
//! | `node_ref=r` | `.node_ref(r)` |
//! | `{x}`, `"text"` | `.child(x)`; closures are followed |
//! | `<Name a=x />` | `component(&Name, props)` with the props of leptos' `#[component]` |
//! | `<Show when=w fallback=f>` | `show(w, children, f)` |

use proc_macro2::TokenStream;
use quote::quote;
use rstml::node::{KeyedAttribute, Node, NodeAttribute, NodeBlock, NodeElement, NodeName};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, Result, Stmt};

/// Elements that live in the namespace of SVG.
const SVG: &[&str] = &["svg", "g", "line", "path", "rect", "text"];

/// Markup as a `View`.
#[proc_macro]
pub fn view(markup: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand(markup.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

fn expand(markup: TokenStream) -> Result<TokenStream> {
    group(&rstml::parse2(markup)?)
}

/// One node as itself, several as a group.
fn group(nodes: &[Node]) -> Result<TokenStream> {
    if let [Node::Element(only)] = nodes {
        return element(only);
    }
    let children = children(nodes)?;
    Ok(quote! { crate::ui::markup::group() #children })
}

fn children(nodes: &[Node]) -> Result<TokenStream> {
    nodes
        .iter()
        .map(|node| {
            let child = match node {
                Node::Element(node) => element(node)?,
                Node::Text(text) => {
                    let text = &text.value;
                    quote! { #text }
                }
                Node::Block(block) => expression(block),
                other => return Err(Error::new(other.span(), "not known in this view!")),
            };
            Ok(quote! { .child(#child) })
        })
        .collect()
}

/// The content of `{}`, without braces where it is one expression.
fn expression(block: &NodeBlock) -> TokenStream {
    if let Some([Stmt::Expr(only, None)]) = block.try_block().map(|block| &*block.stmts) {
        quote! { #only }
    } else {
        quote! { #block }
    }
}

fn element(node: &NodeElement<rstml::Infallible>) -> Result<TokenStream> {
    let name = node.name();
    let text = name.to_string();
    let last = text.rsplit("::").next().unwrap_or_default();
    if last == "Show" {
        return show(node);
    }
    if last.starts_with(char::is_uppercase) {
        return component(node);
    }
    // A select takes its value only once it has its options.
    let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
    for attribute in keyed(node) {
        let attribute = attribute?;
        let call = attribute_call(attribute)?;
        if attribute.key.to_string().starts_with("prop:") {
            after.extend(call);
        } else {
            before.extend(call);
        }
    }
    let children = children(node.children())?;
    let start = if SVG.contains(&&*text) {
        quote! { crate::ui::markup::svg }
    } else {
        quote! { crate::ui::markup::element }
    };
    Ok(quote! { #start(#text) #before #children #after })
}

fn attribute_call(attribute: &KeyedAttribute) -> Result<TokenStream> {
    let key = attribute.key.to_string();
    let Some(value) = attribute.value() else {
        return Ok(quote! { .fixed(#key, "") });
    };
    let (kind, name) = key.split_once(':').unwrap_or(("", &key));
    Ok(match kind {
        "" if key == "node_ref" => quote! { .node_ref(#value) },
        "" if is_text(value) => quote! { .fixed(#key, #value) },
        "" => bind(&quote! { Attribute }, name, value),
        "class" => bind(&quote! { Class }, name, value),
        "style" => bind(&quote! { Style }, name, value),
        "prop" => bind(&quote! { Property }, name, value),
        "on" => {
            let event = event(name);
            quote! { .on::<::web_sys::#event>(#name, #value) }
        }
        _ => return Err(Error::new(attribute.key.span(), "not known in this view!")),
    })
}

fn bind(target: &TokenStream, name: &str, value: &Expr) -> TokenStream {
    quote! { .bind(crate::ui::markup::Target::#target, #name, #value) }
}

/// What a handler of an event is given.
fn event(name: &str) -> TokenStream {
    match name {
        "click" | "dblclick" => quote! { MouseEvent },
        "keydown" => quote! { KeyboardEvent },
        "wheel" => quote! { WheelEvent },
        name if name.starts_with("pointer") => quote! { PointerEvent },
        _ => quote! { Event },
    }
}

fn is_text(value: &Expr) -> bool {
    matches!(
        value,
        Expr::Lit(ExprLit {
            lit: Lit::Str(_),
            ..
        })
    )
}

fn component(node: &NodeElement<rstml::Infallible>) -> Result<TokenStream> {
    let NodeName::Path(name) = node.name() else {
        return Err(Error::new(node.name().span(), "a component is a path"));
    };
    let props: TokenStream = keyed(node)
        .map(|attribute| {
            let attribute = attribute?;
            let (key, value) = (&attribute.key, attribute.value());
            Ok(quote! { .#key(#value) })
        })
        .collect::<Result<_>>()?;
    Ok(quote! {
        crate::ui::markup::component(
            &#name,
            ::leptos::component::component_props_builder(&#name) #props .build(),
        )
    })
}

fn show(node: &NodeElement<rstml::Infallible>) -> Result<TokenStream> {
    let (mut when, mut fallback) = (None, quote! { crate::ui::markup::group });
    for attribute in keyed(node) {
        let attribute = attribute?;
        let value = attribute.value();
        match &*attribute.key.to_string() {
            "when" => when = value,
            "fallback" => fallback = quote! { #value },
            _ => return Err(Error::new(attribute.key.span(), "Show does not know this")),
        }
    }
    let children = group(node.children())?;
    Ok(quote! { crate::ui::markup::show(#when, move || #children, #fallback) })
}

fn keyed(node: &NodeElement<rstml::Infallible>) -> impl Iterator<Item = Result<&KeyedAttribute>> {
    node.attributes().iter().map(|attribute| match attribute {
        NodeAttribute::Attribute(keyed) => Ok(keyed),
        NodeAttribute::Block(block) => Err(Error::new(block.span(), "an attribute has a name")),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn same(markup: TokenStream, calls: &TokenStream) {
        assert_eq!(expand(markup).unwrap().to_string(), calls.to_string());
    }

    #[test]
    fn elements_become_calls_and_properties_come_last() {
        same(
            quote! { <select id="a" prop:value=v on:change=f class:b=c>"text"{x}</select> },
            &quote! {
                crate::ui::markup::element("select")
                    .fixed("id", "a")
                    .on::<::web_sys::Event>("change", f)
                    .bind(crate::ui::markup::Target::Class, "b", c)
                    .child("text")
                    .child(x)
                    .bind(crate::ui::markup::Target::Property, "value", v)
            },
        );
        same(
            quote! { <rect x=1 aria-hidden="true" /> },
            &quote! {
                crate::ui::markup::svg("rect")
                    .bind(crate::ui::markup::Target::Attribute, "x", 1)
                    .fixed("aria-hidden", "true")
            },
        );
    }

    #[test]
    fn components_keep_the_props_of_leptos() {
        same(
            quote! { <Show when=w><a::B c=d /></Show> },
            &quote! {
                crate::ui::markup::show(
                    w,
                    move || crate::ui::markup::component(
                        &a::B,
                        ::leptos::component::component_props_builder(&a::B).c(d).build(),
                    ),
                    crate::ui::markup::group
                )
            },
        );
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for markup in [
            quote! { <div use:x=y /> },
            quote! { <Show whenever=x /> },
            quote! { <div {x} /> },
        ] {
            assert!(expand(markup).is_err());
        }
    }
}
