//! What Hermod remembers. Every durable change goes through one writer that groups whatever is waiting into one
//! transaction and one fsync; an operation is one whole fact, all of it written or none.
//!
//! [`Store`] is the embedded store, which serves one process. A store that several nodes share will stand beside it
//! behind the same operations.

mod audit;
mod embedded;
mod fault;
mod sqlite;
mod writer;

pub use audit::{AuditReport, Violation, audit, audit_unless};
pub use embedded::{
    ACCEPT_WAIT_MAX, DAYS_PER_READ_MAX, DEFERRED_IN_MEMORY_MAX, ERASED_NUMBER, Embedded as Store, Erased,
    Handout, LinkPort, LogSize, OpenOptions, PURGED_PER_STEP_MAX, QUEUE_OPS_MAX, ReceiverPort, SNAPSHOT_MAX,
    STATEMENT_ENTRIES_MAX, backup, is_in_use,
};
pub use fault::StoreFault;
pub use hermod_engine::lanes::JOBS_IN_MEMORY_MAX;
pub use hermod_engine::ops::*;
