//! Entries as JSON. A body is parsed strictly (no duplicate keys), and its entries are read by the same types as those of a
//! file, so that the same rules and error messages apply.

use crate::entry::fields::{EntryField, ValueForms, field_of, fields_of};
use crate::entry::mentioned_fields::{Mentions, NO_LIST, REMOVALS};
use crate::entry::names;
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use crate::setup::file_entries::WantedSetup;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use std::mem;

/// Reads one entry from a body. Fields that follow from the name may be absent; if present, they must agree with it.
pub fn wanted_entry(
    kind: Kind,
    name: &str,
    mut fields: Map<String, Value>,
) -> ProvisionResult<(String, WantedSetup)> {
    let (name, implied) = names::read(kind, name)?;
    let what = format!("{kind} \"{name}\"");
    prepare(&mut fields, fields_of(kind))
        .map_err(|field| ProvisionRefusal::about(&format!("{what}: {field}:"), NO_LIST))?;
    for (field, value) in implied {
        fields.entry(field).or_insert(value);
    }
    let wanted = read(Map::from_iter([(kind.to_string(), Value::Array(vec![Value::Object(fields)]))]))
        .map_err(|(key, sentence)| {
            let field = key.strip_prefix(&format!("{kind} 1.")).map(|field| format!("{field}: "));
            ProvisionRefusal::about(&format!("{what}:"), format!("{}{sentence}", field.unwrap_or_default()))
        })?;
    let described = wanted.names().next().unwrap_or_default();
    if described != name {
        let sentence = format!("does not match the body, which describes \"{described}\"");
        return Err(ProvisionRefusal::about(&what, sentence));
    }
    Ok((name, wanted))
}

/// Reads a whole provision file from an object of lists. Its entries change only the fields that they mention.
pub fn wanted_whole(mut object: Map<String, Value>) -> ProvisionResult<WantedSetup> {
    object.retain(|key, value| !(value.is_null() && (key == REMOVALS || Kind::named(key).is_some())));
    let lists = Kind::ALL.map(|kind| (kind.as_str(), fields_of(kind)));
    for (list, known) in lists.into_iter().chain([(REMOVALS, [].as_slice())]) {
        let entries = object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for (number, entry) in (1..).zip(entries) {
            let about = |field: &str| ProvisionRefusal::about(&format!("{list} {number}{field}:"), NO_LIST);
            match entry {
                Value::Object(entry) => prepare(entry, known).map_err(|field| about(&format!(".{field}")))?,
                Value::Array(_) => return Err(about("")),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
    let mentions = Some(Mentions::take_from_json(&mut object));
    let wanted = read(object).map_err(|(key, sentence)| {
        let key = if key.is_empty() { "the body" } else { &key };
        ProvisionRefusal::about(&format!("{key}:"), sentence)
    })?;
    Ok(WantedSetup { mentions, ..wanted })
}

/// Applies a JSON merge patch (RFC 7396): null removes a field, other values replace it.
pub fn merged(mut fields: Map<String, Value>, patch: Map<String, Value>) -> Map<String, Value> {
    for (field, value) in patch {
        match (fields.remove(&field), value) {
            (_, Value::Null) => {}
            (Some(Value::Object(before)), Value::Object(patch)) => {
                fields.insert(field, Value::Object(merged(before, patch)));
            }
            (_, Value::Object(patch)) => {
                fields.insert(field, Value::Object(merged(Map::new(), patch)));
            }
            (_, value) => {
                fields.insert(field, value);
            }
        }
    }
    fields
}

/// Reads an object of lists. The error has the key, such as `connection 1.rate`, and a sentence.
pub(super) fn read(object: Map<String, Value>) -> Result<WantedSetup, (String, String)> {
    serde_path_to_error::deserialize(Value::Object(object)).map_err(|error| {
        let mut key = String::new();
        let mut element = String::new();
        for segment in error.path() {
            match segment {
                Segment::Map { key: field } if key.is_empty() => key.push_str(field),
                Segment::Map { key: field } => key.push_str(&format!("{}.{field}", mem::take(&mut element))),
                Segment::Seq { index } => element = format!(" {}", index + 1),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        (key, error.into_inner().to_string())
    })
}

/// Removes null values of known fields: they mean that the field is absent. Fails on a list in place of a table, because the types
/// would take its elements for the fields in their order. The error is the name of the field.
fn prepare(object: &mut Map<String, Value>, known: &[EntryField]) -> Result<(), String> {
    for EntryField { name, forms, .. } in known {
        match object.get_mut(name) {
            Some(Value::Null) => drop(object.remove(name)),
            Some(value) => prepare_value(value, forms, name)?,
            None => {}
        }
    }
    Ok(())
}

fn prepare_value(value: &mut Value, forms: &ValueForms, name: &str) -> Result<(), String> {
    match (value, &forms.list) {
        (Value::Array(list), Some(elements)) => {
            (1..).zip(list).try_for_each(|(number, element): (usize, _)| {
                prepare_value(element, elements, &format!("{name} {number}"))
            })
        }
        (Value::Array(_), None) => Err(name.to_owned()),
        (Value::Object(table), _) => {
            prepare(table, forms.inner_fields()).map_err(|field| format!("{name}.{field}"))
        }
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => Ok(()),
    }
}

/// Checks that a patch has only fields of the kind.
pub fn check_fields(kind: Kind, patch: &Map<String, Value>) -> ProvisionResult<()> {
    let refuse = |sentence: String| Err(ProvisionRefusal::about(&format!("{kind}:"), sentence));
    for (name, value) in patch {
        let Some(field) = field_of(kind, name) else { return refuse(format!("unknown field `{name}`")) };
        let known = field.forms.inner_fields();
        let mut inner = value.as_object().into_iter().flat_map(Map::keys);
        if let Some(unknown) = inner.find(|inner| known.iter().all(|known| known.name != **inner)) {
            return refuse(format!("{name}: unknown field `{unknown}`"));
        }
    }
    Ok(())
}
