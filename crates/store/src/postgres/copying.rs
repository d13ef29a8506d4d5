//! A server as a side of a copy of a store: checks that no gateway and no other copy uses it.

use super::membership::{check_unused, keep_nodes_away};
use super::partitions;
use super::schema::Schema;
use crate::error::StoreError;
use crate::postgres::server::Server;
use crate::postgres::{PostgresError, Session};
use hermod_domain::ids::MessageId;

/// A step that the server loses in a crash is copied again; the end of the copy is synced.
const TARGET_SETUP: &str = "SET synchronous_commit = off; SET jit = off; SET client_min_messages = warning;";
/// The source is read in one transaction, which waits while the target is written.
const SOURCE_SETUP: &str =
    "SET default_transaction_read_only = on; SET default_transaction_isolation = 'repeatable read'; SET jit = off;
     SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET client_min_messages = warning;";

/// Opens the schema of a server to copy a store into it. Creates the schema and its tables. Fails if a gateway or another copy
/// uses it.
pub(crate) fn open_copy_target(server: &Server) -> Result<Session, StoreError> {
    let target = Session::connect(server, TARGET_SETUP)?;
    Schema::new(&target, server).open()?;
    take_turn(&target, server)?;
    Ok(target)
}

/// Opens the store of a server to copy it, and changes nothing there. No node can join until the connection ends. Fails if a
/// gateway or another copy uses it, if it has another schema version, and if it is a part of a store.
pub(crate) fn open_copy_source(server: &Server) -> Result<Session, StoreError> {
    let source = Session::connect(server, SOURCE_SETUP)?;
    let schema = Schema::new(&source, server);
    schema.check_current()?;
    take_turn(&source, server)?;
    schema.check_complete()?;
    Ok(source)
}

/// Makes the partitions for messages and texts with ids between these, in the transaction of the caller.
pub(crate) fn make_partitions(
    target: &Session,
    messages: Option<(MessageId, MessageId)>,
    texts: Option<(MessageId, MessageId)>,
) -> Result<(), PostgresError> {
    for (table, ids) in [(&partitions::MESSAGES, messages), (&partitions::TEXTS, texts)] {
        if let Some((first, last)) = ids {
            table.make_between(target, first, last)?;
        }
    }
    Ok(())
}

/// Fails with [`StoreError::InUse`] if a gateway uses the schema, or another copy.
fn take_turn(session: &Session, server: &Server) -> Result<(), StoreError> {
    keep_nodes_away(session, server)?;
    check_unused(session, server)
}
