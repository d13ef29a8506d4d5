//! The gateway's decisions, without a database: what a command changes and what its sender is answered. Pure: rows, times
//! and the catalogue are arguments, and nothing here reads a clock or does I/O.
//!
//! The store runs the commands, makes their changes durable, and then answers.

pub mod accept;
pub mod answer;
pub mod batch;
pub mod block_filter;
pub mod cancel;
pub mod catalogue;
pub mod commands;
pub mod dispatch;
pub mod due_times;
pub mod erase;
pub mod failover;
pub mod given_up_reports;
pub mod late_receipts;
pub mod ledger;
pub mod maps;
pub mod mo;
pub mod moving;
pub mod ops;
pub mod opt_outs;
pub mod progress;
pub mod receipt;
pub mod recover;
pub mod report;
pub mod retention;
pub mod reviews;
pub mod set_aside;
pub mod state;
pub mod tables;
pub mod unnamed_parts;
pub mod webhooks;
