//! The table of parts of messages that have not ended.

use hermod_domain::ids::{AccountId, CarrierId, MessageId};

/// A message, and where the rows of its parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub carrier: CarrierId,
    pub account: AccountId,
    pub message: MessageId,
}

/// Reads and writes parts of messages that have not ended.
pub trait PartRows {}
