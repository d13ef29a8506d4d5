//! What a link works with while it settles.

use super::bound_links::BoundLinks;
use super::outbox::Outbox;
use super::plan::Plan;
use super::record::Log;
use hermod_domain::time::Timestamp;
use hermod_smpp::Moment;
use std::time::{Duration, Instant};

/// Everything shared, locked once for the whole batch.
pub(super) struct LinkContext<'a> {
    pub(super) plan: &'a mut Plan,
    pub(super) outbox: &'a mut Outbox,
    pub(super) bound_links: &'a mut BoundLinks,
    pub(super) log: &'a mut Log,
    pub(super) now: Instant,
    pub(super) moment: Moment,
    /// Time since the carrier started.
    pub(super) at: Duration,
    /// The date, for receipts.
    pub(super) wall: Timestamp,
}
