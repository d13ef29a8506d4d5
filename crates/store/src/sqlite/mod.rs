//! The embedded store: one SQLite file with its schema, the connection that writes it behind a journal, checkpoints and copies.

pub(crate) mod audit_head;
pub(crate) mod checkpoint;
pub(crate) mod commit_mark;
pub(crate) mod copy_target;
pub(crate) mod copying;
pub(crate) mod database;
mod history;
pub(crate) mod progress;
pub(crate) mod recovery;
mod replaying;
mod reserve;
pub(crate) mod salvage;
pub(crate) mod schema;
pub(crate) mod writing;
