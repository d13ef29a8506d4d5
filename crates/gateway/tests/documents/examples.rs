//! Checks the examples of an API document against their schemas.

use serde_json::{Map, Value, json};

/// Returns the places of examples that are not of a type of their schema.
pub(crate) fn mismatches(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, document, "", &mut found);
    found
}

fn walk(document: &Value, node: &Value, place: &str, found: &mut Vec<String>) {
    match node {
        Value::Object(object) => {
            for example in examples(object) {
                let schema = object.get("schema").unwrap_or(node);
                if !fits(document, schema, example) {
                    found.push(format!("{place}: {example}"));
                }
            }
            object.iter().for_each(|(key, value)| walk(document, value, &format!("{place}/{key}"), found));
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| walk(document, value, &format!("{place}/{index}"), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the examples of a schema, or of a parameter, header or body with a schema.
fn examples(object: &Map<String, Value>) -> Vec<&Value> {
    if !["schema", "type", "$ref", "oneOf"].iter().any(|key| object.contains_key(*key)) {
        return Vec::new();
    }
    let many = match object.get("examples") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(Value::Object(named)) => named.values().filter_map(|example| example.get("value")).collect(),
        _ => Vec::new(),
    };
    // A property may be named "example".
    let one = object.get("example").filter(|example| example.get("type").is_none());
    one.into_iter().chain(many).collect()
}

fn fits(document: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#'));
        return target.is_some_and(|target| fits(document, target, value));
    }
    let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    let is_type = types.iter().filter_map(Value::as_str).any(|name| is_of_type(value, name));
    let alternatives = schema["oneOf"].as_array();
    let has_type = schema["type"].is_null() || is_type;
    let is_alternative = alternatives.is_none_or(|some| some.iter().any(|one| fits(document, one, value)));
    let items = value.as_array().into_iter().flatten();
    let fields = value.as_object().into_iter().flatten();
    let properties = &schema["properties"];
    let is_listed = schema["enum"].as_array().is_none_or(|listed| listed.contains(value));
    let is_whole = value.as_object().is_none_or(|object| {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        required.into_iter().all(|name| object.contains_key(name))
    });
    has_type
        && is_alternative
        && is_whole
        && is_listed
        && items.into_iter().all(|item| schema["items"].is_null() || fits(document, &schema["items"], item))
        && fields
            .into_iter()
            .all(|(name, field)| properties.get(name).is_none_or(|property| fits(document, property, field)))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    }
}

#[test]
fn example_of_another_type_is_found() {
    let parameter =
        |example: Value| json!({"parameters": [{"schema": {"type": "integer"}, "example": example}]});
    assert_eq!(mismatches(&parameter(json!(7))), Vec::<String>::new());
    assert_eq!(mismatches(&parameter(json!("7"))), ["/parameters/0: \"7\""]);
    let list =
        json!({"type": ["array", "null"], "items": {"type": "string"}, "examples": [["FR"], "FR", [1]]});
    assert_eq!(mismatches(&list), [": \"FR\"", ": [1]"]);
    let body =
        json!({"schema": {"$ref": "#/s"}, "example": {"a": 1}, "s": {"type": "object", "required": ["b"]}});
    assert_eq!(mismatches(&body), [": {\"a\":1}"]);
}
