//! What Hermod remembers. Every durable change goes through one writer that groups whatever is waiting into one
//! transaction and one fsync; an operation is one whole fact, all of it written or none.
//!
//! [`Store`] is the same for every backend: operations that send commands to the writer and read beside it. What differs
//! is behind two enums in `backend`: the reads, and the writer's transactions. Only `sqlite` knows which database it is.

mod audit;
mod backend;
mod disk;
mod error;
mod outboxes;
mod read_results;
mod shared;
mod sqlite;
mod statement;
mod store;
mod writer;

pub use audit::{AuditReport, Violation};
pub use disk::{DiskSpace, LogSize};
pub use error::{BackendError, StoreError};
pub use hermod_engine::ops::*;
pub use hermod_engine::state::lanes::JOBS_IN_MEMORY_MAX;
pub use sqlite::readers::SNAPSHOT_MAX;
pub use statement::STATEMENT_ENTRIES_MAX;
pub use store::{
    ACCEPT_WAIT_MAX, DAYS_PER_READ_MAX, DEFERRED_IN_MEMORY_MAX, ERASED_NUMBER, Erased, LinkPort, OpenOptions,
    PURGED_PER_STEP_MAX, QUEUE_OPS_MAX, ReceiverPort, Store,
};
