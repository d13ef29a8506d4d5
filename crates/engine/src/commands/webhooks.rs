//! Commands about webhook events.

use crate::batch::Batch;
use crate::commands::{Command, OnFullDisk};
use crate::due_times;
use crate::ops::{Endpoint, EventId, ReplayProgress, SettledAttempt, WebhookReplay};
use crate::read_ahead::ReadPlan;
use crate::tables::{EventKey, TableError};
use crate::webhooks::{WebhookResults, attempts, replay};
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

impl Command for WebhookResults {
    type Outcome = ();

    const ON_FULL_DISK: OnFullDisk = OnFullDisk::Keep;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        for SettledAttempt { endpoint, event, .. } in &self.settled {
            plan.add_event(EventKey { endpoint: *endpoint, event: *event });
        }
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        attempts::record(batch, self)
    }
}

/// Makes an event due now, whether it has ended or still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayWebhook {
    pub account: AccountId,
    pub event: EventId,
    pub now: Timestamp,
}

impl Command for ReplayWebhook {
    type Outcome = WebhookReplay;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<WebhookReplay, TableError> {
        replay::event(batch, self.account, self.event, self.now)
    }
}

/// Looks at `limit` events of an endpoint that were given up, behind `after`, and makes those due now that were given up at
/// or after `since`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFailedWebhooks {
    pub endpoint: Endpoint,
    pub since: Timestamp,
    pub after: Option<EventId>,
    pub limit: u32,
    pub now: Timestamp,
}

impl Command for ReplayFailedWebhooks {
    type Outcome = ReplayProgress;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<ReplayProgress, TableError> {
        let ReplayFailedWebhooks { endpoint, since, after, limit, now } = *self;
        replay::failed(batch, endpoint, since, after, limit, now)
    }
}

/// Makes those of these events due now that still wait. Returns how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryWaitingWebhooks {
    pub endpoint: Endpoint,
    pub events: Vec<EventId>,
    pub now: Timestamp,
}

impl Command for RetryWaitingWebhooks {
    type Outcome = u64;

    fn plan_reads<'c>(&'c self, plan: &mut ReadPlan<'c>) {
        for event in &self.events {
            plan.add_event(EventKey { endpoint: self.endpoint, event: *event });
        }
    }

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        replay::waiting(batch, self.endpoint, &self.events, self.now)
    }
}

/// Deletes those of these events that have ended, and not after `before`. Returns how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetWebhooks {
    pub events: Vec<EventKey>,
    pub before: Timestamp,
    pub now: Timestamp,
}

impl Command for ForgetWebhooks {
    type Outcome = u64;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<u64, TableError> {
        attempts::forget_events(batch, &self.events, self.before, self.now)
    }
}

/// Limits the due times of events to what their schedule allows: `waits` are the longest waits after each failure, from the
/// first. Returns how many were changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitWebhookWaits {
    pub waits: Vec<Duration>,
    pub now: Timestamp,
}

impl Command for LimitWebhookWaits {
    type Outcome = usize;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<usize, TableError> {
        due_times::limit_webhook_waits(batch, &self.waits, self.now)
    }
}
