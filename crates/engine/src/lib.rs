//! The engine decides what each command changes and what its outcome is. It is pure: rows, times and the catalogue are
//! arguments; nothing here reads a clock or does I/O.
//!
//! The store runs the commands in a transaction, commits their changes, and returns the outcomes after the commit. The
//! modules form layers, and each layer imports only from those below it: values, tables, state, the batch, one file per
//! decision, commands.

// Values.
pub mod block_filter;
pub mod maps;
pub mod ops;
mod shared;

// The tables that are read and written, and what is kept of them in memory.
pub mod state;
pub mod tables;

// One transaction. The decisions below are functions of their modules, with a `Batch` as the first argument.
pub mod batch;
pub mod read_ahead;

// MT: from the customer's submit to the carrier's response.
pub mod accept;
pub mod cancel;
pub mod carrier_costs;
pub mod dispatch;
pub mod expiry;
pub mod failover;
pub mod progress;
pub mod submit_response;

// DLRs from carriers.
pub mod late_parts;
pub mod receipt;
pub mod unnamed_parts;

// MO messages, and DLRs to customers: reports over SMPP, webhook events over HTTP.
pub mod mo;
pub mod opt_outs;
pub mod outbox;
pub mod report;
pub mod webhooks;

// Balances, screening and the setup.
pub mod audit_log;
pub mod catalogue;
pub mod customer_requests;
pub mod entry_uses;
pub mod ledger;
pub mod reviews;
pub mod user_tokens;

// Start, rollback, unreadable rows, retention.
pub mod due_times;
pub mod erase;
pub mod recover;
pub mod retention;
pub mod set_aside;
pub mod steps;

// The list of all commands.
pub mod commands;
