//! The store on a PostgreSQL server: its schema and partitions, the connection that writes it, and its readers.

mod database;
mod partitions;
mod schema;
mod upkeep;
mod writing;

pub(crate) use database::{PostgresDatabase, auditor};
pub(crate) use writing::{Batch, WritingSession};
