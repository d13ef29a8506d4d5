//! The shared state that a link works with while it processes a batch of events.

use super::bound_links::BoundLinks;
use super::outbox::Outbox;
use super::plan::Plan;
use super::record::Log;
use hermod_domain::time::Timestamp;
use hermod_smpp::Moment;
use std::time::{Duration, Instant};

/// The shared state, locked once per batch, and the time of the batch.
pub(super) struct LinkContext<'a> {
    pub(super) plan: &'a mut Plan,
    pub(super) outbox: &'a mut Outbox,
    pub(super) bound_links: &'a mut BoundLinks,
    pub(super) log: &'a mut Log,
    pub(super) now: Instant,
    pub(super) moment: Moment,
    /// Time since the carrier started.
    pub(super) at: Duration,
    /// The date in receipts.
    pub(super) date: Timestamp,
}
