//! PostgreSQL: connections, the translation of the SQL of the tables, the schema, and the writer's transactions.

mod database;
mod dialect;
mod error;
mod queue;
mod schema;
mod session;
pub(crate) mod values;
mod writing;

pub(crate) use database::PostgresDatabase;
pub use database::Server;
pub(crate) use error::Error;
pub(crate) use queue::RowKey;
pub(crate) use session::Session;
pub(crate) use writing::{Batch, WritingSession};
