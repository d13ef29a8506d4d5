//! Example values, composed from the examples in the document, in the order of the schema.

use super::html::Html;
use super::node::{Node, json, quoted};
use super::schema::fields_of;

/// The depth to which examples of fields are composed.
const DEPTH_MAX: u32 = 8;

/// Returns the example of a body, or composes one from the examples of its fields.
pub(super) fn of_content(root: &Node, content: &Node) -> Option<Node> {
    let schema = content.at("schema");
    let given = match content.at("example") {
        Node::Null => {
            content.at("examples").fields().first().map_or(&Node::Null, |(_, first)| first.at("value"))
        }
        example => example,
    };
    if given.is_null() { of_schema(root, schema, DEPTH_MAX) } else { Some(in_order(root, given, schema)) }
}

fn of_schema(root: &Node, schema: &Node, depth: u32) -> Option<Node> {
    let depth = depth.checked_sub(1)?;
    let schema = schema.resolve(root);
    for own in [schema.at("example"), schema.at("const")] {
        if !own.is_null() {
            return Some(in_order(root, own, schema));
        }
    }
    if let Some(first) = schema.at("examples").items().first().or(schema.at("enum").items().first()) {
        return Some(in_order(root, first, schema));
    }
    let fields = fields_of(root, schema);
    if !fields.is_empty() {
        let made = fields
            .iter()
            .filter_map(|field| Some((field.name.to_owned(), of_schema(root, field.node, depth)?)));
        return Some(Node::Object(made.collect()));
    }
    let items = schema.at("items");
    if !items.is_null() {
        return Some(Node::List(of_schema(root, items, depth).into_iter().collect()));
    }
    let choices = [schema.at("oneOf").items(), schema.at("anyOf").items()];
    choices.into_iter().flatten().find_map(|choice| of_schema(root, choice, depth))
}

/// Sorts the fields of an example, which are in alphabetical order in the document, in the order of the schema.
fn in_order(root: &Node, value: &Node, schema: &Node) -> Node {
    let schema = schema.resolve(root);
    match value {
        Node::Object(fields) => {
            let known = fields_of(root, schema);
            let place = |name: &str| known.iter().position(|field| field.name == name).unwrap_or(usize::MAX);
            let schema_of = |name: &str| known.get(place(name)).map_or(&Node::Null, |field| field.node);
            let mut ordered: Vec<(String, Node)> = fields
                .iter()
                .map(|(name, field)| (name.clone(), in_order(root, field, schema_of(name))))
                .collect();
            ordered.sort_by_key(|(name, _)| place(name));
            Node::Object(ordered)
        }
        Node::List(items) => {
            Node::List(items.iter().map(|item| in_order(root, item, schema.at("items"))).collect())
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => value.clone(),
    }
}

/// Writes indented and coloured JSON.
pub(super) fn pretty(page: &mut Html, value: &Node, indent: usize) {
    let margin = |page: &mut Html, indent: usize| {
        page.text(&format!("\n{:1$}", "", indent * 2));
    };
    match value {
        Node::Null | Node::Bool(_) | Node::Number(_) => {
            page.raw("<b>").text(&json(value)).raw("</b>");
        }
        Node::Text(text) => {
            page.raw("<i>").text(&quoted(text)).raw("</i>");
        }
        Node::List(items) => {
            page.raw("[");
            for (index, item) in items.iter().enumerate() {
                page.raw(if index == 0 { "" } else { "," });
                margin(page, indent + 1);
                pretty(page, item, indent + 1);
            }
            if !items.is_empty() {
                margin(page, indent);
            }
            page.raw("]");
        }
        Node::Object(fields) => {
            page.raw("{");
            for (index, (name, field)) in fields.iter().enumerate() {
                page.raw(if index == 0 { "" } else { "," });
                margin(page, indent + 1);
                page.raw("<u>").text(&quoted(name)).raw("</u>: ");
                pretty(page, field, indent + 1);
            }
            if !fields.is_empty() {
                margin(page, indent);
            }
            page.raw("}");
        }
    }
}
