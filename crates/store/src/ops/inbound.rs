//! Messages from handsets to an account's numbers.

use crate::ops::Hidden;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::time::Timestamp;
use std::fmt;

/// A message that came in for an account.
#[derive(Clone, PartialEq, Eq)]
pub struct Inbound {
    pub account: AccountId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// The same, as an account reads it.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundRecord {
    /// Counts the account's inbound messages from 1, without gaps, in the order in which they can be read.
    pub id: u64,
    pub message: MessageId,
    pub from: String,
    pub to: String,
    pub text: String,
    pub received_at: Timestamp,
}

/// Neither the text nor whose handset it is.
impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inbound { account, from: _, to: _, text, received_at } = self;
        f.debug_struct("Inbound")
            .field("account", account)
            .field("text", &Hidden(text))
            .field("received_at", received_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for InboundRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InboundRecord { id, message, from: _, to: _, text, received_at } = self;
        f.debug_struct("InboundRecord")
            .field("id", id)
            .field("message", message)
            .field("text", &Hidden(text))
            .field("received_at", received_at)
            .finish_non_exhaustive()
    }
}
