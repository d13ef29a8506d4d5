//! The nodes that share a database: each has a row with a lease, and one of them has the right to write.
//!
//! A node is declared dead by raising the epoch of its row, which only works once its lease has expired on the server's clock.
//! From then on it cannot renew the lease or take the right to write, and its next renewal tells it so.

use super::schema::{self, Schema};
use crate::error::StoreError;
use crate::postgres::lease::LEASE;
use crate::postgres::server::{NodeRun, Server};
use crate::postgres::{PostgresError, Session, values};
use rusqlite::ToSql;
use std::time::Duration;

/// How long the server may take to answer: shorter than a lease.
const ANSWER_MAX: Duration = Duration::from_secs(4);
/// No statement of the keeper may wait for a row that another process has locked.
const SETUP: &str =
    "SET lock_timeout = '1s'; SET statement_timeout = '3s'; SET synchronous_commit = on; SET jit = off;
     SET client_min_messages = warning;";
/// The server's clock in milliseconds.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/// How often to look whether a name is free, before the start fails.
const NAME_TRIES: u32 = 35;
const NAME_PAUSE: Duration = Duration::from_millis(200);

/// The lock between a copy of a store and the nodes that join it: a copy has the schema for itself.
const COPY_LOCK: &str = "SELECT pg_try_advisory_lock(hashtext('hermod copy ' || current_schema()))";
const NODE_LOCK: &str = "SELECT pg_try_advisory_lock_shared(hashtext('hermod copy ' || current_schema()))";

/// How a node introduces itself.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub name: String,
    /// Where other nodes reach it; empty if they cannot.
    pub address: String,
    /// Of the data folder, which only one process can have open.
    pub instance: [u8; 16],
}

/// The row of this node, and the connection that renews its lease.
pub(crate) struct Member {
    session: Session,
    pub run: NodeRun,
    schema: String,
}

/// A node as its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeRow {
    pub run: NodeRun,
    pub name: String,
    pub address: String,
    pub version: String,
    /// Whether its lease is valid.
    pub is_alive: bool,
    /// Whether it gave its lease back, or was declared dead.
    pub has_left: bool,
    /// What it tells the others.
    pub notice: Vec<u8>,
}

/// What a renewal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodesStatus {
    /// Whether this node's lease was renewed. If not, it was declared dead.
    pub is_renewed: bool,
    pub nodes: Vec<NodeRow>,
    /// The run that has the right to write. Not in `nodes` if it was declared dead or has ended.
    pub writer: Option<NodeRun>,
    /// The last batch.
    pub commits: u64,
    /// How often the setup was changed.
    pub catalogue: u64,
}

impl NodesStatus {
    /// Returns the node that has the right to write; none if that run has ended.
    pub(crate) fn writing_node(&self) -> Option<&NodeRow> {
        let writer = self.writer?;
        self.nodes.iter().find(|node| node.run == writer)
    }

    /// Returns the nodes other than `own` that are alive.
    pub(crate) fn others(&self, own: NodeRun) -> impl Iterator<Item = &NodeRow> {
        self.nodes.iter().filter(move |node| node.is_alive && node.run != own)
    }
}

impl Member {
    /// Connects, creates or migrates the tables, and takes the row of this name. Fails with [`StoreError::InUse`] if another
    /// process has it.
    pub(crate) fn join(server: &Server, introduction: &Introduction) -> Result<Member, StoreError> {
        // A migration may take longer than the keeper's statements.
        let migrating = Session::connect(server, "SET client_min_messages = warning;")?;
        let schema = Schema::new(&migrating, server);
        schema.open()?;
        schema.check_complete()?;
        // Held until this node has its row, which a copy looks for.
        keep_copies_away(&migrating, server)?;
        let setup = format!("{SETUP} {}", schema::show_gateway(server));
        let session = Session::connect(server, &setup)?.answering_within(ANSWER_MAX);
        // The folder is ours, so an earlier process with the same one has ended, and its lease need not be waited for.
        let join = format!(
            "INSERT INTO node (id, name, epoch, instance, address, version, lease_until)
             SELECT coalesce(max(id), 0) + 1, ?1::text, 1, ?2::bytea, ?3::text, ?4::text, {NOW} + ?5::bigint FROM node
             ON CONFLICT (name) DO UPDATE SET epoch = node.epoch + 1, instance = excluded.instance,
                 address = excluded.address, version = excluded.version, lease_until = excluded.lease_until
             WHERE node.instance = excluded.instance OR node.lease_until < {NOW}
             RETURNING id, epoch"
        );
        let version = env!("CARGO_PKG_VERSION");
        let Introduction { name, address, instance } = introduction;
        let lease = lease_ms();
        for _ in 0..NAME_TRIES {
            let values: [&dyn ToSql; 5] = [name, &instance.as_slice(), address, &version, &lease];
            let joined = match session.query(&join, &values) {
                // Another node took the same number.
                Err(error) if error.is_duplicate_key() => continue,
                joined => joined?,
            };
            if let Some(row) = joined.first() {
                let run = NodeRun::read(row, 0)?;
                return Ok(Member { session, run, schema: server.schema.clone() });
            }
            wait(NAME_PAUSE);
        }
        Err(StoreError::NodeInUse(name.clone()))
    }

    /// Whether nothing was ever written to the store.
    pub(crate) fn is_new_store(&self) -> Result<bool, StoreError> {
        let rows = self.session.query("SELECT 1 FROM writer WHERE commits = 0", &[])?;
        Ok(!rows.is_empty())
    }

    /// Renews the lease, and returns what the tables say about all nodes. `notice`: what this node tells the others.
    pub(crate) fn renew(&self, notice: &[u8]) -> Result<NodesStatus, StoreError> {
        let renew = format!(
            "WITH renewed AS (UPDATE node SET lease_until = {NOW} + ?3::bigint, notice = ?4
                 WHERE id = ?1 AND epoch = ?2 RETURNING 1)
             SELECT node.id, node.epoch, writer.node, writer.node_epoch, node.name, node.address, node.version,
                 node.lease_until > {NOW}, node.lease_until = 0, (SELECT count(*) FROM renewed), writer.commits,
                 writer.catalogue, node.notice
             FROM writer CROSS JOIN node WHERE writer.shard = 0"
        );
        let ((id, epoch), lease) = (self.run.columns(), lease_ms());
        let rows = self.session.query(&renew, &[&id, &epoch, &lease, &notice])?;
        let mut status = NodesStatus::default();
        for row in &rows {
            let read = || -> rusqlite::Result<_> {
                Ok((
                    values::get(row, 4)?,
                    values::get(row, 5)?,
                    values::get(row, 6)?,
                    (values::get(row, 7)?, values::get(row, 8)?),
                    [9, 10, 11].map(|column| values::get::<i64>(row, column).unwrap_or(0)),
                    values::get(row, 12)?,
                ))
            };
            let (name, address, version, (is_alive, has_left), [renewed, commits, catalogue], notice) =
                read().map_err(PostgresError::from)?;
            (status.is_renewed, status.commits) = (renewed > 0, commits.cast_unsigned());
            status.catalogue = catalogue.cast_unsigned();
            status.writer = Some(NodeRun::read(row, 2)?).filter(|run| run.id != 0);
            let run = NodeRun::read(row, 0)?;
            // The row is as it was before the renewal.
            let is_alive = is_alive || (run == self.run && status.is_renewed);
            status.nodes.push(NodeRow { run, name, address, version, is_alive, has_left, notice });
        }
        Ok(status)
    }

    /// Declares a node dead whose lease has expired. Returns whether that is so: another process may have renewed the lease,
    /// or declared the node dead before.
    pub(crate) fn declare_dead(&self, run: NodeRun) -> Result<bool, StoreError> {
        let declare = format!(
            "UPDATE node SET epoch = epoch + 1, lease_until = 0
             WHERE id = ?1 AND epoch = ?2 AND lease_until < {NOW} RETURNING 1"
        );
        let (id, epoch) = run.columns();
        Ok(!self.session.query(&declare, &[&id, &epoch])?.is_empty())
    }

    /// Ends the writing connections of a dead node: a process that was stopped may hold the lock of a row.
    pub(crate) fn end_connections(&self, run: NodeRun) -> Result<(), StoreError> {
        let name = run.application_name(&self.schema);
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = ?1 AND datname = current_database() AND usename = current_user";
        self.session.query(end, &[&name])?;
        Ok(())
    }

    /// Gives the lease back, so that another node takes over at once.
    pub(crate) fn leave(&self) -> Result<(), StoreError> {
        let (id, epoch) = self.run.columns();
        let leave =
            "UPDATE node SET epoch = epoch + 1, lease_until = 0 WHERE id = ?1 AND epoch = ?2 RETURNING 1";
        self.session.query(leave, &[&id, &epoch])?;
        Ok(())
    }
}

/// Keeps nodes and other copies away until the connection ends. Fails with [`StoreError::InUse`] if another copy is being made,
/// or a node is joining.
pub(super) fn keep_nodes_away(session: &Session, server: &Server) -> Result<(), StoreError> {
    if is_locked(session, COPY_LOCK)? { Ok(()) } else { Err(StoreError::InUse(server.name().into())) }
}

/// Keeps copies away until the connection ends. Fails with [`StoreError::BeingCopied`] if one is being made.
fn keep_copies_away(session: &Session, server: &Server) -> Result<(), StoreError> {
    if is_locked(session, NODE_LOCK)? { Ok(()) } else { Err(StoreError::BeingCopied(server.name())) }
}

fn is_locked(session: &Session, lock: &str) -> Result<bool, PostgresError> {
    Ok(session.query(lock, &[])?.first().map(|row| values::get(row, 0)).transpose()?.unwrap_or(false))
}

/// Fails with [`StoreError::InUse`] if a gateway uses the store of a server.
pub(crate) fn check_unused(session: &Session, server: &Server) -> Result<(), StoreError> {
    let alive = format!("SELECT 1 FROM node WHERE lease_until > {NOW}");
    if session.query(&alive, &[])?.is_empty() {
        return Ok(());
    }
    Err(StoreError::InUse(server.name().into()))
}

fn lease_ms() -> i64 {
    i64::try_from(LEASE.as_millis()).expect("a few seconds")
}

#[expect(clippy::disallowed_methods, reason = "no event says that a lease has expired")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}
