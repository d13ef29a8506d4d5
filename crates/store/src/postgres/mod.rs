//! The store on a PostgreSQL server: its schema and partitions, the connection that writes it, its readers, and a server as a side
//! of a copy.

mod bind_slots;
mod copy_turn;
mod copying;
mod database;
mod link_slots;
mod membership;
mod node_run;
mod partitions;
mod pepper;
mod schema;
mod upkeep;
mod writing;

pub use bind_slots::BindSlot;
pub(crate) use bind_slots::BindSlots;
pub(crate) use copying::{
    check_copy_source, claim_pepper, make_partitions, open_copy_source, open_copy_target,
};
pub(crate) use database::{PostgresDatabase, auditor, migrate, schema_status, unchecked_auditor};
pub(crate) use link_slots::{CatalogueLock, LinkSlots};
pub(crate) use membership::{Member, NodeRow, Standing};
pub(crate) use writing::{Batch, WritingSession};
