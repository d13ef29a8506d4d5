//! The lock between a copy of a store and the nodes that join it: a copy has the schema for itself.

use crate::error::StoreError;
use crate::server::Server;
use crate::sql::Connection;
use hermod_engine::tables::TableError;

const TAKE: &str = "SELECT pg_try_advisory_lock(hashtext('hermod copy ' || current_schema()))";
const SHARE: &str = "SELECT pg_try_advisory_lock_shared(hashtext('hermod copy ' || current_schema()))";

/// Keeps nodes and other copies away until the connection ends. Fails with [`StoreError::InUse`] if another copy is being made,
/// or a node is joining.
pub(super) fn take(connection: &Connection, server: &Server) -> Result<(), StoreError> {
    if is_locked(connection, TAKE)? { Ok(()) } else { Err(StoreError::InUse(server.name().into())) }
}

/// Keeps copies away until the connection ends. Fails with [`StoreError::BeingCopied`] if one is being made.
pub(super) fn share(connection: &Connection, server: &Server) -> Result<(), StoreError> {
    if is_locked(connection, SHARE)? { Ok(()) } else { Err(StoreError::BeingCopied(server.name())) }
}

fn is_locked(connection: &Connection, lock: &str) -> Result<bool, TableError> {
    Ok(connection.query_row(lock, [], |row| row.get(0))?)
}
