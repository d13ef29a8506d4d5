//! The kinds of things a catalogue consists of.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Stored by name: add, never rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Carrier,
    Route,
    Price,
    Account,
    Sender,
    Number,
    Connection,
    Key,
    Screen,
    Control,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Carrier,
        Kind::Route,
        Kind::Price,
        Kind::Account,
        Kind::Sender,
        Kind::Number,
        Kind::Connection,
        Kind::Key,
        Kind::Screen,
        Kind::Control,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Carrier => "carrier",
            Kind::Route => "route",
            Kind::Price => "price",
            Kind::Account => "account",
            Kind::Sender => "sender",
            Kind::Number => "number",
            Kind::Connection => "connection",
            Kind::Key => "key",
            Kind::Screen => "screen",
            Kind::Control => "control",
        }
    }

    pub const fn plural(self) -> &'static str {
        match self {
            Kind::Carrier => "carriers",
            Kind::Route => "routes",
            Kind::Price => "prices",
            Kind::Account => "accounts",
            Kind::Sender => "senders",
            Kind::Number => "numbers",
            Kind::Connection => "connections",
            Kind::Key => "keys",
            Kind::Screen => "screens",
            Kind::Control => "controls",
        }
    }

    /// What to do instead, for kinds whose numbers stand in messages: a number given to somebody else would make those
    /// messages somebody else's.
    pub const fn instead_of_removing(self) -> Option<&'static str> {
        match self {
            Kind::Account | Kind::Connection => Some("say closed = true instead"),
            Kind::Carrier => Some("say disabled = true instead"),
            Kind::Route
            | Kind::Price
            | Kind::Sender
            | Kind::Number
            | Kind::Key
            | Kind::Screen
            | Kind::Control => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
