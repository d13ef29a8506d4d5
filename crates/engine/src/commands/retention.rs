//! Commands that purge data past its retention, one short step each.

use crate::batch::Batch;
use crate::commands::Command;
use crate::ops::Retention;
use crate::retention;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Deletes the texts of old messages. Returns how many messages it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeTexts {
    pub keep: Retention,
    pub now: Timestamp,
}

impl Command for PurgeTexts {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        retention::purge_texts(batch, self.keep, self.now)
    }
}

/// Makes old idempotency keys void. Returns whether there may be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpireKeys {
    pub keep: Retention,
    pub now: Timestamp,
}

impl Command for ExpireKeys {
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        retention::expire_keys(batch, self.keep, self.now)
    }
}

/// Deletes the records of old messages. Returns how many messages it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRecords {
    pub keep: Retention,
    pub now: Timestamp,
}

impl Command for PurgeRecords {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        retention::purge_records(batch, self.keep, self.now)
    }
}

/// Deletes carrier ids that are so old that no receipt can refer to them. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeCarrierIds {
    pub now: Timestamp,
}

impl Command for PurgeCarrierIds {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        retention::purge_carrier_ids(batch, self.now)
    }
}

/// Deletes MO messages of an account that were received before a time. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeInbound {
    pub account: AccountId,
    pub before: Timestamp,
}

impl Command for PurgeInbound {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        retention::purge_inbound(batch, self.account, self.before)
    }
}
