//! Webhook events as callers of the store see them: taking what is due, settling, listing, replaying, and the wake-up of an
//! endpoint's poster. The decisions are in `hermod_engine::webhooks`.

mod move_reports;
mod history;
mod queue;
mod requests;

pub(crate) use move_reports::Absent;
pub(crate) use queue::GivingUp;
