//! The fields that a provision file's entries mention. An absent field keeps its stored value, so an entry may be
//! partial: a required field that is absent is `None`, and an entry is refused if the store has no value of it either.

use crate::entry::fields::{EntryField, ValueForms, fields_of, removable};
use crate::kind::Kind;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The list of removals in a file.
pub(crate) const REMOVALS: &str = "remove";
pub(crate) const NO_LIST: &str = "must not be a list";

/// The mentioned fields of one entry.
pub(crate) type Mentioned = BTreeSet<String>;

/// The mentioned fields of every entry, by kind, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions(BTreeMap<Kind, Vec<Mentioned>>);

impl Mentions {
    /// Reads them from a parsed file. Takes an empty text as "remove the field" where that is possible.
    pub(crate) fn take_from(table: &mut DeTable<'_>) -> Mentions {
        let mut mentions = Mentions::default();
        for kind in Kind::ALL {
            let Some(DeValue::Array(entries)) = table.get_mut(kind.as_str()).map(Spanned::get_mut) else {
                continue;
            };
            let tables = entries.iter_mut().map(|entry| match entry.get_mut() {
                DeValue::Table(entry) => take_entry(kind, entry),
                // Rejected when it is parsed: an entry is a table.
                _ => Mentioned::new(),
            });
            mentions.0.insert(kind, tables.collect());
        }
        mentions
    }

    /// Does the same for a file in JSON.
    pub(crate) fn take_from_json(file: &mut Map<String, Value>) -> Mentions {
        let mut mentions = Mentions::default();
        for kind in Kind::ALL {
            let Some(Value::Array(entries)) = file.get_mut(kind.as_str()) else { continue };
            let objects = entries.iter_mut().map(|entry| {
                // Rejected when it is read: an entry is an object.
                let Value::Object(entry) = entry else { return Mentioned::new() };
                let mentioned = entry.keys().cloned().collect();
                entry.retain(|name, value| *value != "" || removable(kind).all(|field| field.name != *name));
                mentioned
            });
            mentions.0.insert(kind, objects.collect());
        }
        mentions
    }

    /// Returns every mentioned field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (Kind, &str)> {
        let of_kind = |(kind, entries): (&Kind, _)| (*kind, entries);
        let by_kind = self.0.iter().map(of_kind);
        by_kind.flat_map(|(kind, entries): (Kind, &Vec<Mentioned>)| {
            entries.iter().flatten().map(move |field| (kind, field.as_str()))
        })
    }

    /// Returns the mentioned fields of an entry; `None` for a complete entry that was added later.
    pub(crate) fn of(&self, kind: Kind, index: usize) -> Option<&Mentioned> {
        self.0.get(&kind)?.get(index)
    }
}

/// Returns the key of a list where an entry or a field must be a table: the types would take its elements for the fields in their
/// order.
pub(crate) fn misplaced_list(file: &DeTable<'_>) -> Option<String> {
    let known = Kind::ALL.map(|kind| (kind.as_str(), fields_of(kind)));
    known.into_iter().chain([(REMOVALS, [].as_slice())]).find_map(|(list, known)| {
        let entries = file.get(list)?.get_ref().as_array()?;
        (1..).zip(entries.iter()).find_map(|(number, entry): (usize, _)| match entry.get_ref() {
            DeValue::Array(_) => Some(format!("{list} {number}")),
            DeValue::Table(entry) => {
                misplaced_in(entry, known).map(|field| format!("{list} {number}.{field}"))
            }
            _ => None,
        })
    })
}

fn misplaced_in(table: &DeTable<'_>, known: &[EntryField]) -> Option<String> {
    known.iter().find_map(|EntryField { name, forms, .. }| {
        let value = table.get(name.as_str())?;
        misplaced_at(value.get_ref(), forms, name)
    })
}

fn misplaced_at(value: &DeValue<'_>, forms: &ValueForms, name: &str) -> Option<String> {
    match (value, &forms.list) {
        (DeValue::Array(list), Some(elements)) => {
            (1..).zip(list.iter()).find_map(|(number, element): (usize, _)| {
                misplaced_at(element.get_ref(), elements, &format!("{name} {number}"))
            })
        }
        (DeValue::Array(_), None) => Some(name.to_owned()),
        (DeValue::Table(table), _) => {
            misplaced_in(table, forms.inner_fields()).map(|field| format!("{name}.{field}"))
        }
        _ => None,
    }
}

fn take_entry(kind: Kind, entry: &mut DeTable<'_>) -> Mentioned {
    let mentioned = entry.keys().map(|key| key.get_ref().to_string()).collect::<Mentioned>();
    for field in removable(kind) {
        let name = field.name.as_str();
        if entry.get(name).is_some_and(|value| value.get_ref().as_str() == Some("")) {
            entry.remove(name);
        }
    }
    mentioned
}
