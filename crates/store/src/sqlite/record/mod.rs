//! The record as a SQLite database of its own, beside the store's: `record.db`.

mod budget;
pub(crate) mod checking;
pub(crate) mod counting;
pub(crate) mod erasing;
pub(crate) mod figures;
mod intervals;
mod keys;
mod log;
mod matching;
pub(crate) mod open_messages;
pub(crate) mod position;
pub(crate) mod purging;
pub(crate) mod reading;
mod request_log;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod source;
pub(crate) mod statistics;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod timeline;
pub(crate) mod writing;
mod zones;
