//! Commands that erase a phone number.

use crate::batch::Batch;
use crate::commands::Command;
use crate::erase;
use crate::tables::{AttemptKey, DayCarrierId, InboundKey, TableError};
use hermod_domain::erasure::{ErasureScope, KeptErasure};
use hermod_domain::ids::MessageId;
use serde::{Deserialize, Serialize};

/// Erases the number in those of these messages that have ended. Returns how many, and the messages that have not. The caller
/// leaves messages out that a report or webhook event waits for: it reads them beside the writer, because an index by message
/// would cost every message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseMessages {
    pub ids: Vec<MessageId>,
}

impl Command for EraseMessages {
    type Outcome = (u64, Vec<MessageId>);

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(u64, Vec<MessageId>), TableError> {
        erase::messages(batch, &self.ids)
    }
}

/// Erases the number in these MO messages. The caller leaves out those that are still being delivered, as for [`EraseMessages`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseInbound {
    pub keys: Vec<InboundKey>,
}

impl Command for EraseInbound {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        erase::inbound(batch, &self.keys);
        Ok(())
    }
}

/// Erases the recipient of those of these carrier ids whose messages have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseCarrierIds {
    pub ids: Vec<DayCarrierId>,
}

impl Command for EraseCarrierIds {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        erase::carrier_ids(batch, &self.ids)
    }
}

/// Removes the responses to attempts to post webhook events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseResponses {
    pub attempts: Vec<AttemptKey>,
}

impl Command for EraseResponses {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        erase::responses(batch, &self.attempts);
        Ok(())
    }
}

/// Keeps an erasure, so that it can be made again in a restored backup and on a node that was away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepErasure(pub KeptErasure);

impl Command for KeepErasure {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        erase::keep(batch, self.0);
        Ok(())
    }
}

/// Erases the number in held texts and conversations, and in parked receipts and unassigned MO messages if no account is
/// given. Returns how many rows there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseOthers(pub ErasureScope);

impl Command for EraseOthers {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        erase::others(batch, self.0)
    }
}
