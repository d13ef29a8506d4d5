//! The states of messages and parts, and the numbers that the store keeps for them. Existing numbers never change.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A stored number that is no known state: the data comes from a newer release or is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a known state")]
pub struct UnknownState(pub i64);

/// The state of a message, the `status` of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageState {
    Queued,
    Submitted,
    Enroute,
    Delivered,
    Expired,
    Undeliverable,
    Rejected,
}

impl MessageState {
    pub const ALL: [MessageState; 7] = [
        MessageState::Queued,
        MessageState::Submitted,
        MessageState::Enroute,
        MessageState::Delivered,
        MessageState::Expired,
        MessageState::Undeliverable,
        MessageState::Rejected,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            MessageState::Queued => "queued",
            MessageState::Submitted => "submitted",
            MessageState::Enroute => "enroute",
            MessageState::Delivered => "delivered",
            MessageState::Expired => "expired",
            MessageState::Undeliverable => "undeliverable",
            MessageState::Rejected => "rejected",
        }
    }

    pub fn is_final(self) -> bool {
        match self {
            MessageState::Queued | MessageState::Submitted | MessageState::Enroute => false,
            MessageState::Delivered
            | MessageState::Expired
            | MessageState::Undeliverable
            | MessageState::Rejected => true,
        }
    }

    pub fn to_stored(self) -> i64 {
        match self {
            MessageState::Queued => 0,
            MessageState::Submitted => 1,
            MessageState::Enroute => 2,
            MessageState::Delivered => 3,
            MessageState::Expired => 4,
            MessageState::Undeliverable => 5,
            MessageState::Rejected => 6,
        }
    }

    pub fn from_stored(number: i64) -> Result<MessageState, UnknownState> {
        MessageState::ALL.into_iter().find(|state| state.to_stored() == number).ok_or(UnknownState(number))
    }
}

impl fmt::Display for MessageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PartState {
    /// Waits for a link.
    Queued,
    /// Claimed by a link: the submit_sm may have been sent.
    Sending,
    /// Sent, or possibly sent, without a response; waits for a resend.
    InDoubt,
    /// Permanently in doubt: treated as sent, but without a carrier id to match receipts.
    Presumed,
    /// The carrier accepted it and returned its id.
    Sent,
    /// A receipt reported a non-final status.
    Enroute,
    /// Sent, and no final receipt arrived in time.
    Overdue,
    Delivered,
    Undeliverable,
    Expired,
    Rejected,
}

impl PartState {
    pub const ALL: [PartState; 11] = [
        PartState::Queued,
        PartState::Sending,
        PartState::InDoubt,
        PartState::Presumed,
        PartState::Sent,
        PartState::Enroute,
        PartState::Overdue,
        PartState::Delivered,
        PartState::Undeliverable,
        PartState::Expired,
        PartState::Rejected,
    ];

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

    pub fn as_str(self) -> &'static str {
        match self {
            PartState::Queued => "queued",
            PartState::Sending => "sending",
            PartState::InDoubt => "in_doubt",
            PartState::Presumed => "presumed",
            PartState::Sent => "sent",
            PartState::Enroute => "enroute",
            PartState::Overdue => "overdue",
            PartState::Delivered => "delivered",
            PartState::Undeliverable => "undeliverable",
            PartState::Expired => "expired",
            PartState::Rejected => "rejected",
        }
    }

    pub fn to_stored(self) -> i64 {
        match self {
            PartState::Queued => 0,
            PartState::Sending => 1,
            PartState::InDoubt => 2,
            PartState::Presumed => 3,
            PartState::Sent => 4,
            PartState::Enroute => 5,
            PartState::Overdue => 6,
            PartState::Delivered => 7,
            PartState::Undeliverable => 8,
            PartState::Expired => 9,
            PartState::Rejected => 10,
        }
    }

    pub fn from_stored(number: i64) -> Result<PartState, UnknownState> {
        PartState::ALL.into_iter().find(|state| state.to_stored() == number).ok_or(UnknownState(number))
    }
}
