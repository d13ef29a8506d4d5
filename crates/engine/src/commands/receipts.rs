//! Commands about parked receipts, and about parts without a carrier id.

use crate::batch::Batch;
use crate::commands::Command;
use crate::receipt;
use crate::tables::{TableError, UnnamedPart};
use crate::unnamed_parts;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Looks again for the parts of these parked receipts. Returns how many were applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rematch {
    pub carrier: CarrierId,
    pub ids: IdConversion,
    pub remotes: Vec<RemoteId>,
    pub now: Timestamp,
}

impl Command for Rematch {
    type Outcome = usize;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        receipt::rematch(batch, self.carrier, self.ids, &self.remotes, self.now)
    }
}

/// Gives up parked receipts that are too old, a bounded number of them. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiveUpParked {
    pub now: Timestamp,
}

impl Command for GiveUpParked {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        receipt::give_up_parked(batch, self.now)
    }
}

/// Deletes those of these parts without a carrier id that were accepted before `before`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetUnnamedParts {
    pub parts: Vec<UnnamedPart>,
    pub before: Timestamp,
}

impl Command for ForgetUnnamedParts {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        unnamed_parts::forget(batch, &self.parts, self.before)
    }
}
