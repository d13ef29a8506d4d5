//! The durable store. One writer thread groups waiting commands into one transaction and one fsync; each command is
//! written completely or not at all.
//!
//! [`Store`] is the same for every database: it sends commands to the writer and reads beside it. Two enums in `backend`
//! hold what differs: the reads, and the writer's transactions. Only `sqlite` contains SQL.

mod access;
mod audit;
mod backend;
mod disk;
mod erasure_list;
mod erasure_scopes;
mod error;
mod filler;
mod follower;
mod journal;
mod lease;
mod node_envelope;
mod node_run;
mod nodes;
mod outboxes;
mod postgres;
mod queued_acceptance;
mod read_results;
pub mod record;
mod report_port;
mod schema_status;
mod server;
mod setup;
mod shared;
mod sql;
mod sqlite;
mod statement;
mod store;
mod store_copy;
mod writer;

pub use backend::{AUDIT_HEAD_FILE, AuditProof};
pub use disk::{DiskSpace, LogSize};
pub use erasure_list::ERASURES_FILE;
pub use error::{BackendError, StoreError};
pub use filler::RecordFiller;
pub use hermod_engine::ops::*;
pub use hermod_engine::state::lanes::JOBS_IN_MEMORY_MAX;
pub use node_envelope::NodeEnvelope;
pub use node_run::NodeRun;
pub use read_results::{AuditReport, RecordAudit, Salvage, Violation};
pub use schema_status::{MigrationError, MigrationKind, MigrationStep, SchemaStatus};
pub use server::{NodeKey, NodeListener, NodeOptions, Server};
pub use setup::{SetupError, UnreadableRow, read_catalogue, read_document, read_documents};
pub use statement::STATEMENT_ENTRIES_MAX;
pub use store::{
    ACCEPT_WAIT_MAX, BindClaim, BindSlot, CatalogueLock, DAYS_PER_READ_MAX, DEFERRED_IN_MEMORY_MAX, Erased,
    LinkPort, NodeInfo, OpenOptions, PURGED_PER_STEP_MAX, ReceiverPort, Store,
};
pub use store_copy::{CopyError, CopyReport, CopyStep, PepperFingerprint};
