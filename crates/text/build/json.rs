//! JSON for language files: texts, lists and objects, in file order. Duplicate names in an object
//! are errors, where other readers let the last one win.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The member with that name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members()
            .iter()
            .find(|(member, _)| member == name)
            .map(|(_, node)| node)
    }

    /// The members of an object; empty for anything else.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The text, if this is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text, a list or an object")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Node::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
                let mut members: Vec<(String, Node)> = Vec::new();
                while let Some((name, node)) = from.next_entry::<String, Node>()? {
                    if members.iter().any(|(earlier, _)| *earlier == name) {
                        return Err(A::Error::custom(format!("“{name}” stands there twice")));
                    }
                    members.push((name, node));
                }
                Ok(Node::Object(members))
            }
        }

        from.deserialize_any(Reader)
    }
}
