//! The fields that a provision file's entries mention. An absent field keeps its stored value, so an entry may be
//! partial: placeholders fill the missing required fields for parsing only.

use crate::config::add_missing;
use crate::provision::fields::has_field;
use crate::provision::kind::Kind;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The mentioned fields of one entry.
pub(super) type Mentioned = BTreeSet<String>;

/// The mentioned fields of every entry, by kind, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentions(BTreeMap<Kind, Vec<Mentioned>>);

impl Mentions {
    /// Reads them from a parsed file. Removes fields with an empty text, which means "remove the field"; adds
    /// placeholders for missing required fields, which never reach the store.
    pub(super) fn take_from(table: &mut DeTable<'_>) -> Mentions {
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

    /// Returns the mentioned fields of an entry; `None` for a complete entry that was added later.
    pub(super) fn of(&self, kind: Kind, index: usize) -> Option<&Mentioned> {
        self.0.get(&kind)?.get(index)
    }
}

fn take_entry(kind: Kind, entry: &mut DeTable<'_>) -> Mentioned {
    let mentioned = entry.keys().map(|key| key.get_ref().to_string()).collect::<Mentioned>();
    for field in &mentioned {
        let is_empty = entry.get(field.as_str()).is_some_and(|value| value.get_ref().as_str() == Some(""));
        if is_empty && !takes_empty_text(kind, field) && has_field(kind, field) {
            entry.remove(field.as_str());
        }
    }
    let placeholders = DeTable::parse(placeholders(kind)).expect("placeholders are TOML: a test reads them");
    add_missing(entry, placeholders.into_inner());
    mentioned
}

/// Whether an empty text is a value of this field. Fields that name an entry are never removed.
fn takes_empty_text(kind: Kind, field: &str) -> bool {
    match kind {
        Kind::Carrier => matches!(field, "name" | "password" | "system_type" | "service_type"),
        Kind::Route | Kind::Price => field == "prefix",
        Kind::Key => field == "key",
        Kind::Sender => field == "sender",
        Kind::Number => field == "number",
        Kind::User => field == "email",
        Kind::Account | Kind::Connection | Kind::Screen | Kind::Control | Kind::Operator => field == "name",
    }
}

/// Returns placeholders for the required fields.
const fn placeholders(kind: Kind) -> &'static str {
    match kind {
        Kind::Carrier => "address = \"host:1\"\nsystem_id = \"id\"\nwindow = 1\nrate = 1",
        Kind::Route => "carriers = []",
        Kind::Price => "per_part = \"0\"",
        Kind::Account => "currency = \"XXX\"",
        Kind::Number | Kind::Connection => "account = \"name\"",
        Kind::Key => "connection = \"name\"",
        Kind::Screen => "pattern = \"x\"",
        Kind::Sender | Kind::Control | Kind::User | Kind::Operator => "",
    }
}
