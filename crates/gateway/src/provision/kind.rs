//! The kinds of catalogue entries.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Stored by name: add kinds, never rename them.
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
    User,
    Operator,
}

impl Kind {
    pub const ALL: [Kind; 12] = [
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
        Kind::User,
        Kind::Operator,
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
            Kind::User => "user",
            Kind::Operator => "operator",
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
            Kind::User => "users",
            Kind::Operator => "operators",
        }
    }

    /// Returns what to do instead of removing, for kinds whose numbers are stored in messages: a reused number would
    /// assign those messages to another entry.
    pub const fn instead_of_removing(self) -> Option<&'static str> {
        match self {
            Kind::Account | Kind::Connection => Some("set closed = true instead"),
            Kind::Carrier => Some("set disabled = true instead"),
            Kind::Route
            | Kind::Price
            | Kind::Sender
            | Kind::Number
            | Kind::Key
            | Kind::Screen
            | Kind::Control
            | Kind::User
            | Kind::Operator => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
