//! The audit log.

pub mod views;
