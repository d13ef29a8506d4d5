//! Requests of customers, such as for a sender or a higher limit, and what the operator decides about them.

pub(crate) mod changes;
pub(crate) mod routes;
pub mod use_cases;
pub mod views;
