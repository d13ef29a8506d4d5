//! Commands about MO messages and opt-outs.

use crate::batch::Batch;
use crate::commands::Command;
use crate::mo::{self, conversations, inbound, unassigned};
use crate::ops::{Inbound, InboundRecord};
use crate::opt_outs;
use crate::tables::{ConversationKey, OptOut, TableError};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

impl Command for Inbound {
    type Outcome = InboundRecord;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<InboundRecord, TableError> {
        inbound::receive(batch, self)
    }
}

/// Gives an unassigned MO message to an account. Returns none if there is no such message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignInbound {
    pub message: MessageId,
    pub account: AccountId,
    pub now: Timestamp,
}

impl Command for AssignInbound {
    type Outcome = Option<InboundRecord>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Option<InboundRecord>, TableError> {
        unassigned::assign(batch, self.message, self.account, self.now)
    }
}

impl Command for OptOut {
    /// Whether the recipient had not opted out before.
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        opt_outs::add(batch, self)
    }
}

/// Opts a recipient in again. Returns whether the recipient had opted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptIn {
    pub account: AccountId,
    pub number: Msisdn,
}

impl Command for OptIn {
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        opt_outs::remove(batch, self.account, self.number)
    }
}

/// Deletes digests that are too old to recognise a duplicate MO message, at most `limit`. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetRepeats {
    pub now: Timestamp,
    pub limit: usize,
}

impl Command for ForgetRepeats {
    type Outcome = usize;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        mo::forget_repeats(batch, self.now, self.limit)
    }
}

/// Deletes unassigned MO messages that are past their retention, at most `limit`. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetUnassigned {
    pub now: Timestamp,
    pub limit: usize,
}

impl Command for ForgetUnassigned {
    type Outcome = usize;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        unassigned::forget(batch, self.now, self.limit)
    }
}

/// Deletes those of these conversations that are still older than `before`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetConversations {
    pub keys: Vec<ConversationKey>,
    pub before: Timestamp,
}

impl Command for ForgetConversations {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        conversations::forget(batch, &self.keys, self.before)
    }
}
