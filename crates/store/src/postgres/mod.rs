//! PostgreSQL: connections to a server with the SQL of the tables translated for it, and the store on one, with its schema and
//! partitions, the right to write it, the leases and slots of its nodes, and a server as a side of a copy.

pub(crate) mod binary_rows;
mod bind_slots;
mod connecting;
mod copying;
mod database;
mod dialect;
mod error;
pub(crate) mod lease;
mod link_slots;
mod membership;
mod partitions;
mod queue;
mod schema;
pub(crate) mod schema_status;
mod sending;
pub(crate) mod server;
mod session;
mod tls;
mod upkeep;
pub(crate) mod values;
mod writing;

pub use bind_slots::BindSlot;
pub(crate) use bind_slots::BindSlots;
pub(crate) use copying::{make_partitions, open_copy_source, open_copy_target};
pub(crate) use database::{PostgresDatabase, auditor, migrate, schema_status, unchecked_auditor};
pub(crate) use error::PostgresError;
pub(crate) use link_slots::{CatalogueLock, LinkSlots};
pub(crate) use membership::{Member, NodeRow, NodesStatus, check_unused};
pub(crate) use queue::RowKey;
pub(crate) use session::{HasSession, Session};
pub(crate) use writing::{ServerBatch, WritingSession};
