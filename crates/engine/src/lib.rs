//! The gateway's decisions, without a database: what a command changes and what its sender is answered. Pure: rows, times
//! and the catalogue are arguments, and nothing here reads a clock or does I/O.
//!
//! The store runs the commands, makes their changes durable, and then answers.

pub mod audience;
pub mod lanes;
pub mod ops;
pub mod tables;
