//! The durable store. One writer thread groups waiting commands into one transaction and one fsync; each command is
//! written completely or not at all.
//!
//! [`Store`] is the same for every database: it sends commands to the writer and reads beside it. `backend` holds what
//! differs: how reads and the writer's transactions are begun and ended. `sql` has the SQL that runs on both databases,
//! `table_sql` derives some of it from the descriptions of tables; what only one of them understands is in `sqlite` and
//! `postgres`. The record and the audit have SQL of their own, in `record/database` and `audit`.

mod audit;
mod backend;
mod data_folder;
mod error;
mod journal;
mod nodes;
mod operations;
mod outboxes;
mod postgres;
pub mod record;
mod setup;
mod sql;
mod sqlite;
mod table_sql;
mod writer;

pub use audit::report::{AuditReport, Violation};
pub use backend::copying::{CopyReport, CopyStep};
pub use backend::{
    AUDIT_HEAD_FILE, AuditProof, MigrationKind, MigrationStep, NodeKey, NodeListener, NodeOptions, NodeRun,
    PepperFingerprint, STATEMENT_ENTRIES_MAX, Salvage, SchemaStatus, Server,
};
pub use data_folder::disk::{DiskSpace, LogSize};
pub use data_folder::erasure_list::ERASURES_FILE;
pub use data_folder::lock::FolderHolder;
pub use error::{BackendError, CopyError, MigrationError, StoreError};
pub use hermod_engine::ops::*;
pub use hermod_engine::state::lanes::JOBS_IN_MEMORY_MAX;
pub use hermod_engine::tables::{MessageKey, OptOut, OptOutSource, ReviewCase, ReviewState};
pub use nodes::envelope::NodeEnvelope;
pub use operations::{
    ACCEPT_WAIT_MAX, BindClaim, BindSlot, CatalogueLock, ClusterStore, CustomerRequestStore,
    DAYS_PER_READ_MAX, DEFERRED_IN_MEMORY_MAX, Erased, ErasureStore, InboundStore, LinkPort, MessageStore,
    MoneyStore, NodeInfo, OpenOptions, OptOutStore, PURGED_PER_STEP_MAX, ReceiptStore, ReceiverPort,
    RecordStore, ReportStore, ReviewStore, SetAsideStore, SetupStore, Store, UserTokenStore, WebhookStore,
};
pub use record::database::comparing::RecordAudit;
#[cfg(any(test, feature = "fill"))]
pub use record::database::filling::RecordFiller;
pub use setup::{SetupError, UnreadableRow, read_catalogue, read_document, read_documents};
pub use sql::catalogue::RATE_SHEET_KIND;
