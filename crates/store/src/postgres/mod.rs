//! The store on a PostgreSQL server: its schema and partitions, the connection that writes it, its readers, the leases and slots of
//! its nodes, and a server as a side of a copy.

mod bind_slots;
mod copying;
mod database;
pub(crate) mod lease;
mod link_slots;
mod membership;
mod partitions;
mod schema;
pub(crate) mod schema_status;
mod upkeep;
mod writing;

pub use bind_slots::BindSlot;
pub(crate) use bind_slots::BindSlots;
pub(crate) use copying::{make_partitions, open_copy_source, open_copy_target};
pub use database::PepperFingerprint;
pub(crate) use database::{
    PostgresDatabase, auditor, claim_pepper, migrate, schema_status, unchecked_auditor,
};
pub(crate) use link_slots::{CatalogueLock, LinkSlots};
pub(crate) use membership::{Member, NodeRow, NodesStatus, check_unused};
pub(crate) use writing::{ServerBatch, WritingSession};
