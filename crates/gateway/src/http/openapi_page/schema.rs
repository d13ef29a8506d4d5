//! What a value looks like: its type in a few words, its fields in a table.

use super::html::Html;
use super::node::{Node, plain};
use super::prose;

/// Objects inside objects that are unfolded in one table. What lies deeper is named by its type alone.
const DEPTH_MAX: usize = 3;

/// Schemas that one object is put together from.
const PIECES_MAX: u32 = 16;

/// Formats that tell how a program keeps a number, which is no rule for the number.
const SIZES: [&str; 5] = ["int32", "int64", "float", "double", "uint64"];

/// Every named schema of the document.
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

/// The fields of an object, also of one that is put together from several.
pub(super) fn fields_of<'a>(root: &'a Node, schema: &'a Node) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    let mut pieces = vec![schema.resolve(root)];
    // A piece has few pieces of its own; one that has more names itself.
    for _ in 0..PIECES_MAX {
        let Some(piece) = pieces.pop() else { break };
        let required = piece.at("required").items();
        fields.extend(piece.at("properties").fields().iter().map(|(name, node)| {
            let is_required = required.iter().any(|given| given.text() == name);
            Field { name, node, is_required }
        }));
        pieces.extend(piece.at("allOf").items().iter().rev().map(|inner| inner.resolve(root)));
    }
    fields
}

/// The fields of an object; of anything else, its type and rules.
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
        // What a name stands for is said here as well, as far as it fits into a line.
        let named = field.resolve(root);
        rules(page, named);
        page.raw("</td><td>");
        let own = field.at("description").text();
        let inherited = named.at("description").text().split("\n\n").next().unwrap_or_default();
        prose::line(page, if own.is_empty() { inherited } else { own });
        page.raw("</td></tr>\n");
        // A named schema has its own place; only what has no name is unfolded here.
        let inner = if field.at("items").is_null() { field } else { field.at("items") };
        if path.len() < DEPTH_MAX && inner.reference().is_none() {
            write_rows(page, root, inner, path);
        }
        path.pop();
    }
}

/// The type in a few words, with a link where it has a name.
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

/// What the value must keep to, each rule a few words.
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
