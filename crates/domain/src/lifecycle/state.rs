//! The states of messages and parts, and the numbers that the store keeps for them. Existing numbers never change.

use serde::{Deserialize, Serialize};

/// A stored number that is no known state: the data comes from a newer release or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a known state")]
pub struct UnknownState(pub i64);

named! {
    /// The state of a message, the `status` of the API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum MessageState (to_stored, known: i64) {
        Queued = 0 "queued",
        Submitted = 1 "submitted",
        Enroute = 2 "enroute",
        Delivered = 3 "delivered",
        Expired = 4 "expired",
        Undeliverable = 5 "undeliverable",
        Rejected = 6 "rejected",
    }
}

impl MessageState {
    pub fn is_final(self) -> bool {
        match self {
            MessageState::Queued | MessageState::Submitted | MessageState::Enroute => false,
            MessageState::Delivered
            | MessageState::Expired
            | MessageState::Undeliverable
            | MessageState::Rejected => true,
        }
    }

    pub fn from_stored(number: i64) -> Result<MessageState, UnknownState> {
        MessageState::known(number).ok_or(UnknownState(number))
    }
}

named! {
    /// The state of a part.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum PartState (to_stored, known: i64) {
        /// Waits for a link.
        Queued = 0 "queued",
        /// Claimed by a link: the submit_sm may have been sent.
        Sending = 1 "sending",
        /// Sent, or possibly sent, without a response; waits for a resend.
        InDoubt = 2 "in_doubt",
        /// Permanently in doubt: treated as sent, but without a carrier id to match receipts.
        Presumed = 3 "presumed",
        /// The carrier accepted it and returned its id.
        Sent = 4 "sent",
        /// A receipt reported a non-final status.
        Enroute = 5 "enroute",
        /// Sent, and no final receipt arrived in time.
        Overdue = 6 "overdue",
        Delivered = 7 "delivered",
        Undeliverable = 8 "undeliverable",
        Expired = 9 "expired",
        Rejected = 10 "rejected",
    }
}

impl PartState {
    /// Whether a part that a carrier has can come to this state: by a receipt, or because none came.
    pub fn follows_handover(self) -> bool {
        match self {
            PartState::Queued
            | PartState::Sending
            | PartState::InDoubt
            | PartState::Presumed
            | PartState::Sent => false,
            PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable
            | PartState::Expired
            | PartState::Rejected => true,
        }
    }

    /// Whether a carrier may have received the part. Used only when a message ends in Hermod's queue, where `Expired`
    /// and `Rejected` parts were never sent.
    pub(super) fn may_be_with_carrier(self) -> bool {
        match self {
            PartState::Queued | PartState::Expired | PartState::Rejected => false,
            PartState::Sending
            | PartState::InDoubt
            | PartState::Presumed
            | PartState::Sent
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable => true,
        }
    }

    pub fn from_stored(number: i64) -> Result<PartState, UnknownState> {
        PartState::known(number).ok_or(UnknownState(number))
    }
}
