//! Requests of customers.

pub(crate) mod changes;
pub(crate) mod routes;
pub mod use_cases;
pub mod views;
