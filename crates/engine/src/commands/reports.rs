//! Commands about the reports of SMPP customers.

use crate::batch::Batch;
use crate::commands::{Command, OnFullDisk};
use crate::ops::{FinishedReports, ReportId};
use crate::report;
use crate::tables::TableError;
use crate::webhooks::moved_reports;
use hermod_domain::ids::ConnectionId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

impl Command for FinishedReports {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Keep;
    /// Of those that it reads, it deletes the accepted ones itself.
    const IGNORES_REPORTS: bool = true;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        report::finish(batch, self)
    }
}

/// Gives up reports of a connection that are too old, a bounded number of them. Returns which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiveUpOldReports {
    pub connection: ConnectionId,
    pub now: Timestamp,
}

impl Command for GiveUpOldReports {
    type Outcome = Vec<ReportId>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Vec<ReportId>, TableError> {
        report::give_up_old(batch, self.connection, self.now)
    }
}

/// Deletes given-up reports that are past their retention, a bounded number of them. Returns how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetGivenUp {
    pub now: Timestamp,
}

impl Command for ForgetGivenUp {
    type Outcome = usize;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        report::forget_given_up(batch, self.now)
    }
}

/// Moves reports of a connection that has no receiver to its account's webhook. Returns which were moved; none at all if
/// the connection has a receiver again, or its reports do not go to a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveToWebhook {
    pub connection: ConnectionId,
    pub reports: Vec<ReportId>,
    pub now: Timestamp,
}

impl Command for MoveToWebhook {
    type Outcome = Option<Vec<ReportId>>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Option<Vec<ReportId>>, TableError> {
        moved_reports::move_to_webhook(batch, self.connection, &self.reports, self.now)
    }
}
