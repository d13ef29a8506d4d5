//! A JSON tree in the order of the document. Missing values are [`Node::Null`], and `$ref` is resolved.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use utoipa::openapi::OpenApi;

/// The longest chain of references; a longer one is a cycle.
const HOPS_MAX: u32 = 8;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    /// The text of the number.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

static NOTHING: Node = Node::Null;

impl Node {
    pub(super) fn of(document: &OpenApi) -> Node {
        let text = document.to_json().expect("a document is made of strings, numbers and lists");
        serde_json::from_str(&text).expect("what was just written can be read")
    }

    pub(super) fn at(&self, name: &str) -> &Node {
        let found = self.fields().iter().find(|(given, _)| given == name);
        found.map_or(&NOTHING, |(_, node)| node)
    }

    /// Returns the text, or an empty text for any other value.
    pub(super) fn text(&self) -> &str {
        if let Node::Text(text) = self { text } else { "" }
    }

    pub(super) fn items(&self) -> &[Node] {
        if let Node::List(items) = self { items } else { &[] }
    }

    pub(super) fn fields(&self) -> &[(String, Node)] {
        if let Node::Object(fields) = self { fields } else { &[] }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Node::Null
    }

    /// Returns the target of a `$ref`, or the node itself.
    pub(super) fn resolve<'a>(&'a self, root: &'a Node) -> &'a Node {
        let mut node = self;
        for _ in 0..HOPS_MAX {
            let Some(path) = node.at("$ref").text().strip_prefix("#/") else { return node };
            node = path.split('/').fold(root, Node::at);
        }
        &NOTHING
    }

    /// Returns the name of the target of a `$ref`.
    pub(super) fn reference(&self) -> Option<&str> {
        self.at("$ref").text().rsplit_once('/').map(|(_, name)| name)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}

struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Object(fields))
    }
}

/// Returns a value as text without quotes.
pub(super) fn plain(value: &Node) -> String {
    match value {
        Node::Text(text) => text.clone(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) | Node::Object(_) => json(value),
    }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns JSON on one line.
pub(super) fn json(value: &Node) -> String {
    match value {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(number) => number.clone(),
        Node::Text(text) => quoted(text),
        Node::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Node::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), json(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}
