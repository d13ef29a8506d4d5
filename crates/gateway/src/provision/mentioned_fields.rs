//! The fields that a provision file's entries mention. An absent field keeps its stored value, so an entry may be
//! partial: a required field that is absent is `None`, and an entry is refused if the store has no value of it either.

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
    /// Reads them from a parsed file. Takes an empty text as "remove the field" where that is possible.
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
    for field in removable(kind) {
        if entry.get(*field).is_some_and(|value| value.get_ref().as_str() == Some("")) {
            entry.remove(*field);
        }
    }
    mentioned
}

/// The fields that an empty text removes: optional ones without a default. Every other field rejects an empty text or has it as
/// a value: an empty text never sets a price, a limit of access or a secret, and never selects another entry.
pub(super) const fn removable(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Carrier => &[
            "link_rate",
            "links",
            "binds",
            "version",
            "enquire_wait",
            "bind_wait",
            "ids",
            "receipts",
            "receipt_wait",
            "alphabet",
            "long_messages",
            "source",
            "destination",
            "validity",
            "registered_delivery",
            "in_doubt",
        ],
        Kind::Route => &["in_doubt"],
        Kind::Account => {
            &["terms", "smpp_rate", "dlr_webhook", "inbound_webhook", "warn_below", "urgent_below"]
        }
        Kind::Sender => &["reason"],
        Kind::Connection => &[
            "default_sender",
            "max_parts",
            "system_id",
            "system_type",
            "max_binds",
            "window",
            "alphabet",
            "inbound",
        ],
        Kind::Key => &["expires_at"],
        Kind::Screen => &["account"],
        Kind::Control => {
            &["account", "spend_per_day", "messages_per_day", "per_recipient", "per_range", "per_country"]
        }
        Kind::Price | Kind::Number | Kind::User | Kind::Operator => &[],
    }
}
