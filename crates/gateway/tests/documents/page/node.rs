//! A JSON tree in the order of the document. Missing values are [`SchemaNode::Null`], and `$ref` is resolved.

use indexmap::IndexMap;
use indexmap::map::Slice;
use serde::Deserialize;
use utoipa::openapi::OpenApi;

/// The longest chain of references; a longer one is a cycle.
const HOPS_MAX: u32 = 8;

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(super) enum SchemaNode {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<SchemaNode>),
    Object(IndexMap<String, SchemaNode>),
}

static NOTHING: SchemaNode = SchemaNode::Null;

impl SchemaNode {
    pub(super) fn of(document: &OpenApi) -> SchemaNode {
        let text = document.to_json().expect("a document is made of strings, numbers and lists");
        serde_json::from_str(&text).expect("what was just written can be read")
    }

    pub(super) fn at(&self, name: &str) -> &SchemaNode {
        if let SchemaNode::Object(fields) = self { fields.get(name).unwrap_or(&NOTHING) } else { &NOTHING }
    }

    /// Returns the text, or an empty text for any other value.
    pub(super) fn text(&self) -> &str {
        if let SchemaNode::Text(text) = self { text } else { "" }
    }

    pub(super) fn items(&self) -> &[SchemaNode] {
        if let SchemaNode::List(items) = self { items } else { &[] }
    }

    pub(super) fn fields(&self) -> &Slice<String, SchemaNode> {
        if let SchemaNode::Object(fields) = self { fields.as_slice() } else { Slice::new() }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == SchemaNode::Null
    }

    /// Returns the target of a `$ref`, or the node itself.
    pub(super) fn resolve<'a>(&'a self, root: &'a SchemaNode) -> &'a SchemaNode {
        let mut node = self;
        for _ in 0..HOPS_MAX {
            let Some(path) = node.at("$ref").text().strip_prefix("#/") else { return node };
            node = path.split('/').fold(root, SchemaNode::at);
        }
        &NOTHING
    }

    /// Returns the name of the target of a `$ref`.
    pub(super) fn reference(&self) -> Option<&str> {
        self.at("$ref").text().rsplit_once('/').map(|(_, name)| name)
    }

    /// Returns a value as text without quotes.
    pub(super) fn plain(&self) -> String {
        if let SchemaNode::Text(text) = self { text.clone() } else { self.json() }
    }

    /// Returns JSON on one line.
    pub(super) fn json(&self) -> String {
        match self {
            SchemaNode::Null => "null".to_owned(),
            SchemaNode::Bool(value) => value.to_string(),
            SchemaNode::Number(number) => number.to_string(),
            SchemaNode::Text(text) => quoted(text),
            SchemaNode::List(items) => {
                format!("[{}]", items.iter().map(SchemaNode::json).collect::<Vec<_>>().join(", "))
            }
            SchemaNode::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), value.json()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
