//! Schemas: the type of a value in words, the fields of an object as rows of a table.

use super::node::SchemaNode;

/// The depth of nested objects in one table.
const DEPTH_MAX: usize = 3;

/// The largest number of schemas that `allOf` combines.
const PIECES_MAX: u32 = 16;

/// Formats that are about storage and are not printed as rules.
const SIZES: [&str; 5] = ["int32", "int64", "float", "double", "uint64"];

/// A schema as it is shown: a table if it has fields, else its type and rules.
pub(super) struct Shown<'a> {
    pub(super) words: Vec<Word<'a>>,
    pub(super) rules: Vec<SchemaRule>,
    pub(super) rows: Vec<SchemaRow<'a>>,
}

impl<'a> Shown<'a> {
    pub(super) fn of(root: &'a SchemaNode, schema: &'a SchemaNode) -> Shown<'a> {
        let schema = schema.resolve(root);
        let mut rows = Vec::new();
        add_rows(&mut rows, root, schema, &mut Vec::new());
        Shown { words: words(schema), rules: rules(schema), rows }
    }
}

/// A part of the name of a type.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Whether it is the name of a schema, which has a section of its own.
    pub(super) is_name: bool,
}

/// What a value has to comply with: words, values, or both.
pub(super) struct SchemaRule {
    pub(super) words: String,
    pub(super) values: Vec<String>,
}

/// A row in a table of fields, parameters or headers.
pub(super) struct SchemaRow<'a> {
    pub(super) name: String,
    /// What stands beside the name, such as "optional".
    pub(super) note: String,
    pub(super) words: Vec<Word<'a>>,
    pub(super) rules: Vec<SchemaRule>,
    pub(super) description: &'a str,
}

impl<'a> SchemaRow<'a> {
    pub(super) fn of(
        root: &'a SchemaNode,
        name: String,
        note: String,
        schema: &'a SchemaNode,
        description: &'a str,
    ) -> SchemaRow<'a> {
        SchemaRow { name, note, words: words(schema), rules: rules(schema.resolve(root)), description }
    }
}

/// One field of an object.
pub(super) struct SchemaField<'a> {
    pub(super) name: &'a str,
    pub(super) node: &'a SchemaNode,
    is_required: bool,
}

/// Returns the fields of an object, including those of `allOf`.
pub(super) fn fields_of<'a>(root: &'a SchemaNode, schema: &'a SchemaNode) -> Vec<SchemaField<'a>> {
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    let mut pieces = vec![schema.resolve(root)];
    // A longer chain is a cycle.
    for _ in 0..PIECES_MAX {
        let Some(piece) = pieces.pop() else { break };
        properties.extend(piece.at("properties").fields());
        required.extend(piece.at("required").items());
        pieces.extend(piece.at("allOf").items().iter().rev().map(|inner| inner.resolve(root)));
    }
    let field = |(name, node): (&'a String, &'a SchemaNode)| {
        let is_required = required.iter().any(|given: &&SchemaNode| given.text() == name);
        SchemaField { name, node, is_required }
    };
    properties.into_iter().map(field).collect()
}

fn add_rows<'a>(
    rows: &mut Vec<SchemaRow<'a>>,
    root: &'a SchemaNode,
    schema: &'a SchemaNode,
    path: &mut Vec<&'a str>,
) {
    for SchemaField { name, node, is_required } in fields_of(root, schema) {
        path.push(name);
        // A field without a description has the start of its schema's.
        let inherited = node.resolve(root).at("description").text().split("\n\n").next().unwrap_or_default();
        let own = node.at("description").text();
        let description = if own.is_empty() { inherited } else { own };
        let note = if is_required { String::new() } else { "optional".to_owned() };
        rows.push(SchemaRow::of(root, path.join("."), note, node, description));
        // Named schemas have their own section; only unnamed ones are nested.
        let inner = if node.at("items").is_null() { node } else { node.at("items") };
        if path.len() < DEPTH_MAX && inner.reference().is_none() {
            add_rows(rows, root, inner, path);
        }
        path.pop();
    }
}

/// Returns the type, such as "list of Message".
pub(super) fn words(schema: &SchemaNode) -> Vec<Word<'_>> {
    let plain = |text| Word { text, is_name: false };
    if let Some(text) = schema.reference() {
        return vec![Word { text, is_name: true }];
    }
    for (choice, joint) in [("oneOf", " or "), ("allOf", " and ")] {
        let items = schema.at(choice).items();
        if !items.is_empty() {
            return joined(items.iter().map(words), || plain(joint));
        }
    }
    match schema.at("type") {
        SchemaNode::Text(name) if name == "array" => {
            let mut list = vec![plain("list of ")];
            list.extend(words(schema.at("items")));
            list
        }
        SchemaNode::Text(name) => vec![plain(name)],
        SchemaNode::List(names) => {
            joined(names.iter().map(|name| vec![plain(name.text())]), || plain(" or "))
        }
        _ => vec![plain("any value")],
    }
}

fn joined<'a>(lists: impl Iterator<Item = Vec<Word<'a>>>, joint: impl Fn() -> Word<'a>) -> Vec<Word<'a>> {
    let mut all = Vec::new();
    for list in lists {
        all.extend((!all.is_empty()).then(&joint));
        all.extend(list);
    }
    all
}

fn rules(schema: &SchemaNode) -> Vec<SchemaRule> {
    let mut rules = Vec::new();
    let values: Vec<String> = schema.at("enum").items().iter().map(SchemaNode::plain).collect();
    if !values.is_empty() {
        rules.push(SchemaRule { words: String::new(), values });
    }
    for (least, most, unit) in [
        ("minLength", "maxLength", " characters"),
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", " items"),
    ] {
        let (least, most) = (schema.at(least), schema.at(most));
        let words = match (least.is_null(), most.is_null()) {
            (true, true) => continue,
            (false, false) => format!("{} to {}{unit}", least.plain(), most.plain()),
            (false, true) => format!("at least {}{unit}", least.plain()),
            (true, false) => format!("up to {}{unit}", most.plain()),
        };
        rules.push(SchemaRule { words, values: Vec::new() });
    }
    for (keyword, words) in [("format", ""), ("pattern", "pattern "), ("default", "default ")] {
        let value = schema.at(keyword);
        if !value.is_null() && !SIZES.contains(&value.text()) {
            rules.push(SchemaRule { words: words.to_owned(), values: vec![value.plain()] });
        }
    }
    rules
}
