//! Carriers.

pub mod carrier_test;
pub mod entry;
pub(crate) mod routes;
pub mod use_cases;
pub mod views;
