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

use crate::sql::nodes::NodeRun;

pub use bind_slots::BindSlot;
pub(crate) use bind_slots::BindSlots;
pub(crate) use copying::{
    check_copy_source, claim_pepper, make_partitions, open_copy_source, open_copy_target,
};
pub use database::PepperFingerprint;
pub(crate) use database::{PostgresDatabase, auditor, migrate, schema_status, unchecked_auditor};
pub(crate) use link_slots::{CatalogueLock, LinkSlots};
pub(crate) use membership::{Member, NodeRow, NodesStatus};
pub(crate) use writing::{ServerBatch, WritingSession};

/// The name under which PostgreSQL lists the connection that writes for a node.
fn application_name(schema: &str, run: NodeRun) -> String {
    format!("hermod {:08x} {}.{}", crc32c::crc32c(schema.as_bytes()), run.id, run.epoch)
}

/// Returns the columns of a run of a node.
fn as_values(run: NodeRun) -> (i64, i64) {
    (i64::from(run.id), run.epoch.cast_signed())
}
