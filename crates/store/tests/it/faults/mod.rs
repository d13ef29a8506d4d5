//! What the surroundings do to the store: SQL that fails, a disk without room, an fsync that lies, bytes that change.

mod bytes;
mod disk;
mod fsync;
mod log;
mod sql;
