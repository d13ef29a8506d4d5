//! The hold of a gateway: nothing leaves it until an operator has looked at what it would send. A restored backup starts held,
//! because what waited when it was made may have been sent since.

use crate::ids::MessageId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Why a gateway is held. The store keeps it until an operator releases the gateway, over restarts and on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// When the hold was made: of a backup, when its copy was complete.
    pub since: Timestamp,
    /// The store is a backup.
    pub is_backup: bool,
    /// Customers may send: their messages wait until the gateway is released.
    pub accepts_messages: bool,
}

impl Hold {
    /// Returns the hold with which a backup starts that was complete at this time.
    pub const fn of_backup(made_at: Timestamp) -> Hold {
        Hold { since: made_at, is_backup: true, accepts_messages: false }
    }

    /// Returns the hold that an operator makes now.
    pub const fn by_operator(now: Timestamp) -> Hold {
        Hold { since: now, is_backup: false, accepts_messages: false }
    }

    /// Whether a message was accepted before the hold. What a backup has was accepted before it was complete.
    pub fn is_later_than(&self, message: MessageId) -> bool {
        message.accepted_at() <= self.since
    }
}

#[cfg(test)]
#[path = "hold_tests.rs"]
mod tests;
