//! The gateway's decisions, without a database: what a command changes and what its sender is answered. Pure: rows, times
//! and the catalogue are arguments, and nothing here reads a clock or does I/O.
//!
//! The store runs the commands, makes their changes durable, and then answers. Modules stand in layers, and each imports
//! from the layers below it only: values, tables, state, the batch, decisions, commands.

// Values.
pub mod block_filter;
pub mod maps;
pub mod ops;

// Rows that are read and written, and what is remembered of them.
pub mod state;
pub mod tables;

// What runs in one transaction. The decisions below are its methods.
pub mod batch;

// A message from its customer to its carrier.
pub mod accept;
pub mod submit_response;
pub mod cancel;
pub mod dispatch;
pub mod expiry;
pub mod failover;
pub mod progress;

// Receipts of carriers.
pub mod late_receipts;
pub mod receipt;
pub mod unnamed_parts;

// Reports to customers, and MO messages.
pub mod mo;
pub mod opt_outs;
pub mod outbox;
pub mod report;
pub mod webhooks;

// Money, texts that are held, and the setup.
pub mod catalogue;
pub mod ledger;
pub mod reviews;

// Starts, broken rows, and what is old.
pub mod due_times;
pub mod erase;
pub mod recover;
pub mod retention;
pub mod set_aside;
pub mod steps;

// Everything that can be asked of the engine.
pub mod commands;
