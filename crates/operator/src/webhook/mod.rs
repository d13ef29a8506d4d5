//! Webhooks of accounts: addresses, events, replays, tests, and the signing secret.

pub(crate) mod routes;
pub mod use_cases;
pub mod views;
