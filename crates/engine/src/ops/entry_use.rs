//! Entries of the setup that messages and money refer to by their numbers, and what they were used for.

use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An entry of the setup that messages and money refer to by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NumberedEntry {
    Account(AccountId),
    Carrier(CarrierId),
    Connection(ConnectionId),
}

impl NumberedEntry {
    /// Returns the entry of this kind and number; none if nothing refers to entries of this kind by number.
    pub fn of(kind: &str, id: u32) -> Option<NumberedEntry> {
        match kind {
            "account" => Some(NumberedEntry::Account(AccountId::new(id))),
            "carrier" => Some(NumberedEntry::Carrier(CarrierId::new(id))),
            "connection" => Some(NumberedEntry::Connection(ConnectionId::new(id))),
            _ => None,
        }
    }

    /// Returns its kind and number, as the catalogue has them.
    pub const fn kind_and_id(self) -> (&'static str, u32) {
        match self {
            NumberedEntry::Account(id) => ("account", id.get()),
            NumberedEntry::Carrier(id) => ("carrier", id.get()),
            NumberedEntry::Connection(id) => ("connection", id.get()),
        }
    }
}

/// `account 7`.
impl fmt::Display for NumberedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id) = self.kind_and_id();
        write!(f, "{kind} {id}")
    }
}

/// A command is about an entry that was removed. Nothing of the command was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0} was removed from the setup")]
pub struct EntryRemoved(pub NumberedEntry);

/// What an entry was used for first. Stored by name, and in the journal by its place: add uses at the end, and never rename them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Usage {
    Message,
    LedgerEntry,
    InboundMessage,
    Receipt,
    OptOut,
    Review,
    CustomerRequest,
    /// Never: the entry was removed.
    Removed,
}

impl Usage {
    pub const ALL: [Usage; 8] = [
        Usage::Message,
        Usage::LedgerEntry,
        Usage::InboundMessage,
        Usage::Receipt,
        Usage::OptOut,
        Usage::Review,
        Usage::CustomerRequest,
        Usage::Removed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Usage::Message => "message",
            Usage::LedgerEntry => "ledger",
            Usage::InboundMessage => "inbound",
            Usage::Receipt => "receipt",
            Usage::OptOut => "opt-out",
            Usage::Review => "review",
            Usage::CustomerRequest => "request",
            Usage::Removed => "removed",
        }
    }

    /// Returns the usage with this name.
    pub fn named(name: &str) -> Option<Usage> {
        Usage::ALL.into_iter().find(|usage| usage.as_str() == name)
    }
}

/// The first use of an entry, by its kind and id in the catalogue; or its removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryUse {
    pub kind: String,
    pub id: u32,
    pub usage: Usage,
    pub at: Timestamp,
}
