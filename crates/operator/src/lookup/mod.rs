//! Lookups.

pub(crate) mod explain;
pub(crate) mod routes;
pub mod use_cases;
pub mod views;
