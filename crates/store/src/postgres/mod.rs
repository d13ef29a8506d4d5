//! The store on a PostgreSQL server: its schema, the connection that writes it, and its readers.

mod database;
mod link_slots;
mod membership;
mod schema;
mod writing;

pub(crate) use database::{PostgresDatabase, auditor};
pub(crate) use link_slots::{CatalogueLock, LinkSlots};
pub(crate) use membership::{Member, NodeRow, Standing};
pub(crate) use writing::{Batch, WritingSession};
