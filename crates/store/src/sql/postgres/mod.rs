//! Connections to PostgreSQL, and the translation of the SQL of the tables.

pub(crate) mod binary_rows;
mod connecting;
mod dialect;
mod error;
mod queue;
mod sending;
pub(crate) mod server;
mod session;
mod tls;
pub(crate) mod values;

pub(crate) use error::PostgresError;
pub(crate) use queue::RowKey;
pub(crate) use session::{HasSession, Session};
