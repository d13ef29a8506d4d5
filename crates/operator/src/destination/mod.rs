//! Destinations.

pub mod use_cases;
pub mod views;
