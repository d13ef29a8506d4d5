//! Operations on webhook events: take those that are due, record results, list, replay, purge; and move reports of customers
//! without a receiver to their webhooks. The decisions are in `hermod_engine::webhooks`.

mod history;
mod move_reports;
mod queue;

pub(crate) use move_reports::ReportMover;
pub(crate) use queue::GivingUp;
