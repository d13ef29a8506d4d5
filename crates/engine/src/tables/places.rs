//! Where the rows of a message's parts are, and which of them cannot be read.

use hermod_domain::ids::{AccountId, CarrierId, MessageId};

/// A message, and where the rows of its parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub message: MessageId,
}

/// A message and where the rows of its parts are, as it is stored. It may make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPlace {
    pub carrier: i64,
    pub account: i64,
    pub message: i64,
}

impl StoredPlace {
    /// Returns the place, if all of its numbers make sense.
    pub fn place(self) -> Option<Place> {
        Some(Place {
            carrier: CarrierId::new(u32::try_from(self.carrier).ok()?),
            account: AccountId::new(u32::try_from(self.account).ok()?),
            message: MessageId::from_i64(self.message)?,
        })
    }
}

impl From<Place> for StoredPlace {
    fn from(Place { carrier, account, message }: Place) -> StoredPlace {
        StoredPlace {
            carrier: carrier.get().into(),
            account: account.get().into(),
            message: message.as_i64(),
        }
    }
}

/// A message with a part that cannot be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePart {
    pub place: StoredPlace,
    pub reason: String,
}

/// Rows that were read, and the parts among them that make no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings<T> {
    pub rows: Vec<T>,
    pub unreadable: Vec<UnreadablePart>,
}

impl<T> Default for Readings<T> {
    fn default() -> Readings<T> {
        Readings { rows: Vec::new(), unreadable: Vec::new() }
    }
}
