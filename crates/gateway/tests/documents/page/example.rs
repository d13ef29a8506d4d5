//! Example values, composed from the examples in the document, in the order of the schema.

use super::node::{SchemaNode, quoted};
use super::schema::fields_of;
use askama::filters::{Html, Safe, escape};

/// The depth to which examples of fields are composed.
const DEPTH_MAX: u32 = 8;

/// Returns the example of a body, or composes one from the examples of its fields.
pub(super) fn of_content(root: &SchemaNode, content: &SchemaNode) -> Option<SchemaNode> {
    let schema = content.at("schema");
    match content.at("example") {
        SchemaNode::Null => of_schema(root, schema, DEPTH_MAX),
        given => Some(in_order(root, given, schema)),
    }
}

fn of_schema(root: &SchemaNode, schema: &SchemaNode, depth: u32) -> Option<SchemaNode> {
    let depth = depth.checked_sub(1)?;
    let schema = schema.resolve(root);
    if let Some(first) = schema.at("examples").items().first().or(schema.at("enum").items().first()) {
        return Some(in_order(root, first, schema));
    }
    let fields = fields_of(root, schema);
    if !fields.is_empty() {
        let made = fields
            .iter()
            .filter_map(|field| Some((field.name.to_owned(), of_schema(root, field.node, depth)?)));
        return Some(SchemaNode::Object(made.collect()));
    }
    let items = schema.at("items");
    if !items.is_null() {
        return Some(SchemaNode::List(of_schema(root, items, depth).into_iter().collect()));
    }
    schema.at("oneOf").items().iter().find_map(|choice| of_schema(root, choice, depth))
}

/// Sorts the fields of an example, which are in alphabetical order in the document, in the order of the schema.
fn in_order(root: &SchemaNode, value: &SchemaNode, schema: &SchemaNode) -> SchemaNode {
    let schema = schema.resolve(root);
    match value {
        SchemaNode::Object(fields) => {
            let known = fields_of(root, schema);
            let place = |name: &str| known.iter().position(|field| field.name == name).unwrap_or(usize::MAX);
            let schema_of = |name: &str| known.get(place(name)).map_or(&SchemaNode::Null, |field| field.node);
            let ordered = fields.iter().map(|(name, field)| (name, in_order(root, field, schema_of(name))));
            let mut ordered: Vec<_> = ordered.map(|(name, field)| (name.clone(), field)).collect();
            ordered.sort_by_key(|(name, _)| place(name));
            SchemaNode::Object(ordered.into_iter().collect())
        }
        SchemaNode::List(items) => {
            SchemaNode::List(items.iter().map(|item| in_order(root, item, schema.at("items"))).collect())
        }
        SchemaNode::Null | SchemaNode::Bool(_) | SchemaNode::Number(_) | SchemaNode::Text(_) => value.clone(),
    }
}

/// Returns indented and coloured JSON.
pub(super) fn coloured(value: &SchemaNode) -> Safe<String> {
    Safe(coloured_from(value, "\n"))
}

/// `margin` is the line break with the indentation of the value.
fn coloured_from(value: &SchemaNode, margin: &str) -> String {
    let inner = format!("{margin}  ");
    let parts: Vec<String> = match value {
        SchemaNode::Text(_) => return format!("<i>{}</i>", escaped(&value.json())),
        SchemaNode::Null | SchemaNode::Bool(_) | SchemaNode::Number(_) => {
            return format!("<b>{}</b>", value.json());
        }
        SchemaNode::List(items) => items.iter().map(|item| coloured_from(item, &inner)).collect(),
        SchemaNode::Object(fields) => fields
            .iter()
            .map(|(name, field)| {
                format!("<u>{}</u>: {}", escaped(&quoted(name)), coloured_from(field, &inner))
            })
            .collect(),
    };
    let (open, close) = if matches!(value, SchemaNode::List(_)) { ('[', ']') } else { ('{', '}') };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}{inner}{}{margin}{close}", parts.join(&format!(",{inner}")))
}

fn escaped(text: &str) -> String {
    let Ok(text) = escape(text, Html);
    text.to_string()
}
