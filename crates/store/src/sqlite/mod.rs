//! The SQLite database: its schema, the connections that write and read it, and the SQL of each table. Each table has a file
//! that implements the engine's trait of the same name.

mod aliases;
pub(crate) mod audit;
pub(crate) mod audit_log;
pub(crate) mod balances;
pub(crate) mod blobs;
pub(crate) mod carrier_ids;
pub(crate) mod catalogue;
pub(crate) mod checkpoint;
pub(crate) mod columns;
pub(crate) mod commit_mark;
pub(crate) mod conversations;
pub(crate) mod copying;
pub(crate) mod customer_requests;
pub(crate) mod database;
mod day_tables;
pub(crate) mod day_totals;
pub(crate) mod delivery_figures;
pub(crate) mod engine_reads;
pub(crate) mod erasure;
pub(crate) mod errors;
pub(crate) mod given_up_reports;
pub(crate) mod idempotency_keys;
pub(crate) mod inbound;
pub(crate) mod jobs;
mod journal_meters;
pub(crate) mod late_parts;
pub(crate) mod ledger;
pub(crate) mod lock;
mod message_exceptions;
mod messages;
pub(crate) mod mo_blobs;
mod mo_parts;
pub(crate) mod opt_outs;
pub(crate) mod parked_receipts;
pub(crate) mod part_rows;
pub(crate) mod parts;
pub(crate) mod progress;
pub(crate) mod purging;
pub(crate) mod readers;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod recovery;
pub(crate) mod reports;
mod reserve;
pub(crate) mod reviews;
pub(crate) mod schema;
pub(crate) mod set_aside;
mod timeline;
pub(crate) mod unassigned_inbound;
pub(crate) mod unnamed_parts;
pub(crate) mod unreadable;
pub(crate) mod user_tokens;
pub(crate) mod waiting_messages;
pub(crate) mod webhook_attempts;
pub(crate) mod webhook_due;
pub(crate) mod webhook_events;
pub(crate) mod webhook_listing;
pub(crate) mod webhook_purging;
pub(crate) mod writing;

use crate::sql::Connection;
use hermod_engine::tables::{ChangeLog, Tables};
use std::cell::RefCell;

/// Implements the engine's table traits on a connection.
pub(crate) struct SqliteTables<'c> {
    pub(crate) connection: &'c Connection,
}

impl<'c> SqliteTables<'c> {
    /// Returns the tables in the form that the engine uses.
    pub(crate) fn of(connection: &'c Connection) -> Tables<'c> {
        Tables::new(SqliteTables { connection })
    }

    /// Returns the tables. Every change that is applied to them is also added to `changes`.
    pub(crate) fn logged(connection: &'c Connection, changes: &'c RefCell<ChangeLog>) -> Tables<'c> {
        Tables::with_log(SqliteTables { connection }, changes)
    }
}

/// Runs `work`, and applies the changes that it made to the tables.
#[cfg(test)]
pub(crate) fn changing<T>(connection: &Connection, work: impl FnOnce(&Tables<'_>) -> T) -> T {
    let tables = SqliteTables::of(connection);
    let done = work(&tables);
    tables.finish().expect("the changes can be applied");
    done
}
