//! Schemas: the type of a value as text, the fields of an object as a table.

use super::html::Html;
use super::node::{Node, plain};
use super::prose;

/// The depth of nested objects in one table.
const DEPTH_MAX: usize = 3;

/// The largest number of schemas that `allOf` combines.
const PIECES_MAX: u32 = 16;

/// Formats that are about storage and are not printed as rules.
const SIZES: [&str; 5] = ["int32", "int64", "float", "double", "uint64"];

/// Writes all named schemas.
pub(super) fn catalogue(page: &mut Html, root: &Node) {
    let schemas = root.at("components").at("schemas").fields();
    if schemas.is_empty() {
        return;
    }
    page.raw("<section class=\"group\">\n<h2 id=\"schemas\">Schemas</h2>\n");
    for (name, schema) in schemas {
        page.raw("<article class=\"schema\">\n<h3 id=\"")
            .id("schema", name)
            .raw("\">")
            .text(name)
            .raw("</h3>\n");
        prose::write(page, schema.at("description").text());
        write(page, root, schema);
        page.raw("</article>\n");
    }
    page.raw("</section>\n");
}

/// One field of an object.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) node: &'a Node,
    is_required: bool,
}

/// Returns the fields of an object, including those of `allOf`.
pub(super) fn fields_of<'a>(root: &'a Node, schema: &'a Node) -> Vec<Field<'a>> {
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    let mut pieces = vec![schema.resolve(root)];
    // A longer chain is a cycle.
    for _ in 0..PIECES_MAX {
        let Some(piece) = pieces.pop() else { break };
        properties.extend(piece.at("properties").fields());
        required.extend(piece.at("required").items());
        pieces.extend(piece.at("allOf").items().iter().rev().map(|inner| inner.resolve(root)));
    }
    let field = |(name, node): &'a (String, Node)| {
        let is_required = required.iter().any(|given: &&Node| given.text() == name);
        Field { name, node, is_required }
    };
    properties.into_iter().map(field).collect()
}

/// Writes the fields of an object; of any other schema, its type and rules.
pub(super) fn write(page: &mut Html, root: &Node, schema: &Node) {
    let resolved = schema.resolve(root);
    if fields_of(root, resolved).is_empty() {
        page.raw("<p class=\"type\">");
        type_name(page, resolved);
        rules(page, resolved);
        page.raw("</p>\n");
        return;
    }
    page.raw("<div class=\"wide\"><table class=\"cards fields\">\n<tbody>\n");
    write_rows(page, root, resolved, &mut Vec::new());
    page.raw("</tbody>\n</table></div>\n");
}

fn write_rows<'a>(page: &mut Html, root: &'a Node, schema: &'a Node, path: &mut Vec<&'a str>) {
    for Field { name, node: field, is_required } in fields_of(root, schema) {
        path.push(name);
        page.raw("<tr><th scope=\"row\"><code>").text(&path.join(".")).raw("</code>");
        page.raw(if is_required { "" } else { " <small>optional</small>" }).raw("</th><td>");
        type_name(page, field);
        // The rules of a named schema are repeated here.
        let named = field.resolve(root);
        rules(page, named);
        page.raw("</td><td>");
        let own = field.at("description").text();
        let inherited = named.at("description").text().split("\n\n").next().unwrap_or_default();
        prose::line(page, if own.is_empty() { inherited } else { own });
        page.raw("</td></tr>\n");
        // Named schemas have their own section; only unnamed ones are nested.
        let inner = if field.at("items").is_null() { field } else { field.at("items") };
        if path.len() < DEPTH_MAX && inner.reference().is_none() {
            write_rows(page, root, inner, path);
        }
        path.pop();
    }
}

/// Writes the type, with a link to a named schema.
pub(super) fn type_name(page: &mut Html, schema: &Node) {
    if let Some(name) = schema.reference() {
        page.raw("<a href=\"#").id("schema", name).raw("\">").text(name).raw("</a>");
        return;
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        let items = schema.at(choice).items();
        if items.is_empty() {
            continue;
        }
        for (index, item) in items.iter().enumerate() {
            page.raw(match (index, choice) {
                (0, _) => "",
                (_, "allOf") => " and ",
                (_, _) => " or ",
            });
            type_name(page, item);
        }
        return;
    }
    match schema.at("type") {
        Node::Text(name) if name == "array" => {
            page.raw("list of ");
            type_name(page, schema.at("items"));
        }
        Node::Text(name) => {
            page.text(name);
        }
        Node::List(names) => {
            let names: Vec<&str> = names.iter().map(Node::text).collect();
            page.text(&names.join(" or "));
        }
        _ => {
            page.raw("any value");
        }
    }
}

/// Writes the rules of a value.
pub(super) fn rules(page: &mut Html, schema: &Node) {
    let values = schema.at("enum").items();
    if !values.is_empty() {
        page.raw("<span class=\"rule\">");
        for (index, value) in values.iter().enumerate() {
            page.raw(if index == 0 { "" } else { " | " }).raw("<code>").text(&plain(value)).raw("</code>");
        }
        page.raw("</span>");
    }
    for (least, most, unit) in [
        ("minLength", "maxLength", " characters"),
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", " items"),
    ] {
        range(page, schema.at(least), schema.at(most), unit);
    }
    for (keyword, words) in
        [("const", "always "), ("format", ""), ("pattern", "pattern "), ("default", "default ")]
    {
        let value = schema.at(keyword);
        if !value.is_null() && !SIZES.contains(&value.text()) {
            page.raw("<span class=\"rule\">").raw(words).raw("<code>").text(&plain(value));
            page.raw("</code></span>");
        }
    }
}

fn range(page: &mut Html, least: &Node, most: &Node, unit: &'static str) {
    let (from, to) = (plain(least), plain(most));
    let words = match (least.is_null(), most.is_null()) {
        (true, true) => return,
        (false, false) => format!("{from} to {to}"),
        (false, true) => format!("at least {from}"),
        (true, false) => format!("up to {to}"),
    };
    page.raw("<span class=\"rule\">").text(&words).raw(unit).raw("</span>");
}
