//! A server as a side of a copy of a store: checks that no gateway and no other copy uses it, and that its pepper is the right one.

use super::database::{self, PepperFingerprint, read_pepper};
use super::membership::{check_unused, keep_nodes_away};
use super::partitions;
use super::schema::Schema;
use super::writing::{check_no_unfinished_copy, failed};
use crate::error::CopyError;
use crate::error::StoreError;
use crate::sql::postgres::Session;
use crate::sql::postgres::server::Server;
use crate::sql::{Connection, Error};
use hermod_domain::ids::MessageId;
use hermod_engine::tables::TableError;

/// A step that the server loses in a crash is copied again; the end of the copy is synced.
const TARGET_SETUP: &str = "SET synchronous_commit = off; SET jit = off; SET client_min_messages = warning;";
/// The source is read in one transaction, which waits while the target is written.
const SOURCE_SETUP: &str =
    "SET default_transaction_read_only = on; SET default_transaction_isolation = 'repeatable read'; SET jit = off;
     SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET client_min_messages = warning;";

/// Opens the schema of a server to copy a store into it. Creates the schema and its tables. Fails if a gateway or another copy
/// uses it, and if it belongs to another pepper.
pub(crate) fn open_copy_target(
    server: &Server,
    fingerprint: PepperFingerprint,
) -> Result<Connection, StoreError> {
    let session = Session::connect(server, TARGET_SETUP).map_err(failed)?;
    Schema::new(&session, server).open()?;
    let target = Connection::Postgres(Box::new(session));
    take_turn(&target, server)?;
    if is_of_another(&target, fingerprint)? {
        return Err(CopyError::OtherPepper(server.name()).into());
    }
    Ok(target)
}

/// Opens the store of a server to copy it, and changes nothing there. No node can join until the connection ends. Fails if a
/// gateway or another copy uses it, if it belongs to another pepper or has another schema version, and if it is a part of a store.
pub(crate) fn open_copy_source(
    server: &Server,
    fingerprint: PepperFingerprint,
) -> Result<Connection, StoreError> {
    let session = Session::connect(server, SOURCE_SETUP).map_err(failed)?;
    Schema::new(&session, server).check_current()?;
    let source = Connection::Postgres(Box::new(session));
    take_turn(&source, server)?;
    if is_of_another(&source, fingerprint)? {
        return Err(CopyError::OtherPepperOfSource(server.name()).into());
    }
    check_no_unfinished_copy(&source, server)?;
    Ok(source)
}

/// Fails with [`StoreError::InUse`] if a gateway uses the store of a server that is copied.
pub(crate) fn check_copy_source(source: &Connection, server: &Server) -> Result<(), StoreError> {
    check_unused(session_of(source), server)
}

/// Claims a schema for the pepper of the store that is copied into it.
pub(crate) fn claim_pepper(target: &Connection, fingerprint: PepperFingerprint) -> Result<(), TableError> {
    Ok(database::claim_pepper(session_of(target), fingerprint).map(drop)?)
}

/// Makes the partitions for messages and texts with ids between these, in the transaction of the caller.
pub(crate) fn make_partitions(
    target: &Connection,
    messages: Option<(MessageId, MessageId)>,
    texts: Option<(MessageId, MessageId)>,
) -> Result<(), TableError> {
    for (table, ids) in [(&partitions::MESSAGES, messages), (&partitions::TEXTS, texts)] {
        if let Some((first, last)) = ids {
            table.make_between(session_of(target), first, last).map_err(Error::from)?;
        }
    }
    Ok(())
}

/// Fails with [`StoreError::InUse`] if a gateway uses the schema, or another copy.
fn take_turn(connection: &Connection, server: &Server) -> Result<(), StoreError> {
    keep_nodes_away(connection, server)?;
    check_unused(session_of(connection), server)
}

fn is_of_another(connection: &Connection, fingerprint: PepperFingerprint) -> Result<bool, StoreError> {
    let claimed = read_pepper(session_of(connection)).map_err(TableError::from)?;
    Ok(claimed.is_some_and(|claimed| claimed != fingerprint))
}

fn session_of(connection: &Connection) -> &Session {
    match connection {
        Connection::Postgres(session) => session,
        Connection::Sqlite(_) => unreachable!("this side of the copy is a server"),
    }
}
