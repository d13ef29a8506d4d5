//! Operations on webhook events: take those that are due, record results, list, replay, purge; and move reports of customers
//! without a receiver to their webhooks. The engine (`hermod_engine::webhooks`)
//! writes the rows; the gateway decides about retries.

mod history;
mod move_reports;
mod queue;

pub(crate) use move_reports::ReportMover;
pub(crate) use queue::GivingUp;
