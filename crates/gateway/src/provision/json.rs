//! Entries as JSON. A body is parsed strictly (no duplicate keys), converted to TOML and read like a file, so that the
//! same rules and error messages apply.

use crate::config::{FileError, Source};
use crate::provision::draft::FileEntry;
use crate::provision::fields::{has_field, has_inner_field};
use crate::provision::file_entries::WantedSetup;
use crate::provision::kind::Kind;
use crate::provision::{ProvisionRefusal, names};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The list of removals in a file.
const REMOVALS: &str = "remove";

/// Parses one JSON object. The error names the position.
pub fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    match value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("it is not an object".to_owned())
        }
    }
}

/// Reads one entry from a body. Fields that follow from the name may be absent; if present, they must agree with it.
pub fn wanted_entry(
    kind: Kind,
    name: &str,
    fields: Map<String, Value>,
) -> Result<(String, WantedSetup), ProvisionRefusal> {
    let (name, implied) = names::read(kind, name)?;
    let mut fields = without_nulls(fields, kind);
    for (field, value) in implied {
        fields.entry(field).or_insert(value);
    }
    let whole = Map::from_iter([(kind.as_str().to_owned(), Value::Array(vec![Value::Object(fields)]))]);
    let what = format!("{kind} \"{name}\"");
    let wanted = read(&whole, WantedSetup::parse_whole).map_err(|(key, sentence)| {
        let field = key.as_deref().and_then(|key| key.strip_prefix(&format!("{kind} 1.")));
        let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
        ProvisionRefusal::about(&format!("{what}:"), format!("{field}{sentence}"))
    })?;
    let described = only_name(&wanted, kind);
    if described.as_ref() != Some(&name) {
        let described = described.unwrap_or_default();
        let sentence = format!("does not match the body, which describes \"{described}\"");
        return Err(ProvisionRefusal::about(&what, sentence));
    }
    Ok((name, wanted))
}

/// Reads a whole provision file from an object of lists.
pub fn wanted_whole(object: &Map<String, Value>) -> Result<WantedSetup, ProvisionRefusal> {
    read(&whole_without_nulls(object), WantedSetup::parse).map_err(|(key, sentence)| {
        let key = key.unwrap_or_else(|| "the body".to_owned());
        ProvisionRefusal::about(&format!("{key}:"), sentence)
    })
}

/// Parses the value after `field=` on a command line: a boolean, an integer, a list, a table or a quoted text as in
/// TOML; any other text as it is. An empty value removes the field.
pub fn value_of(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    let read = toml::from_str::<BTreeMap<String, toml::Value>>(&format!("value = {text}"));
    match read.ok().and_then(|mut table| table.remove("value").filter(|_| table.is_empty())) {
        Some(toml::Value::Float(_) | toml::Value::Datetime(_)) | None => Value::String(text.to_owned()),
        Some(value) => serde_json::to_value(value).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
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

/// Parses an object as a file. The error is the key, if known, and a sentence.
fn read(
    object: &Map<String, Value>,
    parse: fn(&Source) -> Result<WantedSetup, FileError>,
) -> Result<WantedSetup, (Option<String>, String)> {
    // TOML has no null; nulls of known fields were removed before.
    let text =
        toml::to_string(object).map_err(|_| (None, "null is not allowed inside a value".to_owned()))?;
    let source = Source { path: "body".into(), text };
    parse(&source).map_err(|error| (error.key, error.sentence))
}

/// Removes known fields that are null. An unknown field is kept with another value, so that it is rejected.
fn without_nulls(object: Map<String, Value>, kind: Kind) -> Map<String, Value> {
    let said = without_known_nulls(object, &|field| has_field(kind, field));
    let inside = |field: String, value| {
        let known = |inner: &str| has_inner_field(kind, &field, inner);
        let value = match value {
            Value::Object(table) => Value::Object(without_known_nulls(table, &known)),
            Value::Array(list) => {
                let list = list.into_iter().map(|element| match element {
                    Value::Object(table) => Value::Object(without_known_nulls(table, &known)),
                    other => other,
                });
                Value::Array(list.collect())
            }
            other => other,
        };
        (field, value)
    };
    said.into_iter().map(|(field, value)| inside(field, value)).collect()
}

fn without_known_nulls(object: Map<String, Value>, known: &dyn Fn(&str) -> bool) -> Map<String, Value> {
    let said = object.into_iter().filter(|(field, value)| !(value.is_null() && known(field)));
    said.map(|(field, value)| (field, if value.is_null() { Value::Bool(false) } else { value })).collect()
}

/// Removes nulls from an object of lists, and from each entry in them.
fn whole_without_nulls(object: &Map<String, Value>) -> Map<String, Value> {
    let lists = object.iter().map(|(key, value)| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == key);
        match (kind, value) {
            (Some(_), Value::Null) => (key.clone(), Value::Array(Vec::new())),
            (Some(kind), Value::Array(entries)) => {
                let entries = entries.iter().map(|entry| match entry {
                    Value::Object(fields) => Value::Object(without_nulls(fields.clone(), kind)),
                    other => other.clone(),
                });
                (key.clone(), Value::Array(entries.collect()))
            }
            (None, Value::Null) if key == REMOVALS => (key.clone(), Value::Array(Vec::new())),
            (None, Value::Null) => (key.clone(), Value::Bool(false)),
            (_, value) => (key.clone(), value.clone()),
        }
    });
    lists.collect()
}

/// Checks that a patch has only fields of the kind.
pub fn check_fields(kind: Kind, patch: &Map<String, Value>) -> Result<(), ProvisionRefusal> {
    for (field, value) in patch {
        if !has_field(kind, field) {
            return Err(ProvisionRefusal::about(&format!("{kind}:"), format!("unknown field `{field}`")));
        }
        let inner = value.as_object().into_iter().flat_map(Map::keys);
        if let Some(unknown) = inner.into_iter().find(|inner| !has_inner_field(kind, field, inner)) {
            let sentence = format!("{field}: unknown field `{unknown}`");
            return Err(ProvisionRefusal::about(&format!("{kind}:"), sentence));
        }
    }
    Ok(())
}

/// Returns the name of the only entry.
fn only_name(wanted: &WantedSetup, kind: Kind) -> Option<String> {
    match kind {
        Kind::Carrier => wanted.carriers.first().map(FileEntry::name),
        Kind::Route => wanted.routes.first().map(FileEntry::name),
        Kind::Price => wanted.prices.first().map(FileEntry::name),
        Kind::Account => wanted.accounts.first().map(FileEntry::name),
        Kind::Sender => wanted.senders.first().map(FileEntry::name),
        Kind::Number => wanted.numbers.first().map(FileEntry::name),
        Kind::Connection => wanted.connections.first().map(FileEntry::name),
        Kind::Key => wanted.keys.first().map(FileEntry::name),
        Kind::Screen => wanted.screens.first().map(FileEntry::name),
        Kind::Control => wanted.controls.first().map(FileEntry::name),
        Kind::User => wanted.users.first().map(FileEntry::name),
        Kind::Operator => wanted.operators.first().map(FileEntry::name),
    }
}

/// Deserializes a value and rejects duplicate keys.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Strict)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key \"{key}\"")));
            }
            object.insert(key, entries.next_value_seed(Strict)?);
        }
        Ok(Value::Object(object))
    }
}
