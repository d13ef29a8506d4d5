//! Faults of the environment: failing SQL, a full disk, a failing fsync, a growing log, corrupt bytes.

mod corruption;
mod disk_full;
mod fsync;
mod sql_errors;
mod wal;
