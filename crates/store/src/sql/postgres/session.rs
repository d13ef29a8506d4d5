//! A connection to PostgreSQL, used by one thread. Its runtime runs only during a call.

use super::dialect;
use super::error::{Error, Result};
use super::queue::{ChangeQueue, Group, RowKey};
use super::tls::Encryption;
use super::values::{Column, Parameter};
use crate::server::Server;
use bytes::{Bytes, BytesMut};
use futures_util::future::{MaybeDone, join, join3, join4, maybe_done};
use futures_util::{SinkExt as _, TryStreamExt as _};
use rusqlite::ToSql;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql as PgToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

/// Statements that a session keeps prepared; beyond that it forgets all of them.
const STATEMENTS_MAX: usize = 512;

pub(crate) struct Session {
    /// None once the session is dropped.
    runtime: Option<Runtime>,
    config: Config,
    encryption: Option<Encryption>,
    /// Statements to run on every new connection.
    setup: String,
    /// None after the connection was lost.
    client: RefCell<Option<Arc<Client>>>,
    statements: RefCell<HashMap<String, Prepared>>,
    queue: RefCell<ChangeQueue>,
    transaction: Cell<Option<Begun>>,
    /// Whether a statement of the transaction may have changed something.
    changed: Cell<bool>,
}

/// Whether the server knows of the transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Here,
    AtTheServer,
}

#[derive(Clone)]
struct Prepared {
    /// As it was given.
    sql: Arc<str>,
    one: Statement,
    /// For many rows, once it was needed.
    many: Option<Statement>,
}

impl Session {
    /// Connects. `setup` runs on every connection, also on one that replaces a lost one.
    pub(crate) fn connect(server: &Server, setup: &str) -> Result<Session> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let session = Session {
            runtime: Some(runtime),
            config: server.config.clone(),
            encryption: server.authorities.as_ref().map(Encryption::new),
            setup: format!("SET search_path = \"{}\"; {setup}", server.schema),
            client: RefCell::new(None),
            statements: RefCell::default(),
            queue: RefCell::default(),
            transaction: Cell::new(None),
            changed: Cell::new(false),
        };
        session.client()?;
        Ok(session)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("there until the session is dropped")
    }

    /// Returns the connection, or a new one if it was lost. Fails within a transaction that was lost with it.
    fn client(&self) -> Result<Arc<Client>> {
        if let Some(client) = &*self.client.borrow()
            && !client.is_closed()
        {
            return Ok(client.clone());
        }
        if self.transaction.get() == Some(Begun::AtTheServer) {
            return Err(Error::ConnectionLost);
        }
        self.statements.borrow_mut().clear();
        let connecting = async {
            let client = match self.encryption.clone() {
                Some(encryption) => {
                    let (client, connection) = self.config.connect(encryption).await?;
                    drive(connection);
                    client
                }
                None => {
                    let (client, connection) = self.config.connect(NoTls).await?;
                    drive(connection);
                    client
                }
            };
            client.batch_execute(&self.setup).await?;
            Ok::<_, Error>(Arc::new(client))
        };
        let client = self.runtime().block_on(connecting)?;
        *self.client.borrow_mut() = Some(client.clone());
        Ok(client)
    }

    /// Asks the server for an answer. Connects again if the connection was lost.
    pub(crate) fn ensure_connected(&self) -> Result<()> {
        let client = self.client()?;
        let answered = self.runtime().block_on(client.batch_execute(""));
        if answered.is_err() {
            *self.client.borrow_mut() = None;
        }
        Ok(answered?)
    }

    /// Begins a transaction. The server learns of it with the first statement.
    pub(crate) fn begin(&self) {
        self.queue.borrow_mut().clear();
        self.changed.set(false);
        self.transaction.set(Some(Begun::Here));
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.transaction.get().is_some()
    }

    /// Whether the transaction has run statements that change something, or has some to run.
    pub(crate) fn has_changes(&self) -> bool {
        self.changed.get() || !self.queue.borrow().is_empty()
    }

    /// Ends the transaction without its changes.
    pub(crate) fn roll_back(&self) -> Result<()> {
        self.queue.borrow_mut().clear();
        if self.transaction.take() == Some(Begun::AtTheServer)
            && let Some(client) = &*self.client.borrow()
            && !client.is_closed()
        {
            self.runtime().block_on(client.batch_execute("ROLLBACK"))?;
        }
        Ok(())
    }

    /// Commits the transaction, with a last statement that fails where it must not be committed. If the connection is lost
    /// meanwhile, the error is [`Error::is_connection_lost`] and the outcome is unknown.
    pub(crate) fn commit(&self, last: Option<(&str, &[&dyn ToSql])>) -> Result<()> {
        let client = self.client()?;
        let last = match last {
            Some((sql, values)) => Some((self.prepared(&client, sql)?.one, parameters(values)?)),
            None => None,
        };
        let groups = self.prepare_queued(&client)?;
        let begin = self.begin_at_server();
        self.transaction.set(None);
        let done = self.runtime().block_on(async {
            // All are sent before the first answer is awaited. After an error the server ignores the rest, and the commit
            // is a rollback.
            let first = begin_if(&client, begin);
            let changes = run_groups(&client, &groups);
            let counted = async {
                match &last {
                    Some((statement, values)) => rows(&client, statement, values).await.map(drop),
                    None => Ok(()),
                }
            };
            let (first, changes, counted, committed) =
                join4(first, changes, counted, client.batch_execute("COMMIT")).await;
            first?;
            changes?;
            counted?;
            committed
        });
        Ok(done?)
    }

    /// Runs a query.
    pub(crate) fn query(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Row>> {
        let client = self.client()?;
        let statement = self.prepared(&client, sql)?.one;
        let values = parameters(values)?;
        let groups = self.prepare_queued(&client)?;
        let begin = self.begin_at_server();
        Ok(self.runtime().block_on(async {
            let first = begin_if(&client, begin);
            let (first, changes, rows) =
                join3(first, run_groups(&client, &groups), rows(&client, &statement, &values)).await;
            first?;
            changes?;
            rows
        })?)
    }

    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize> {
        let client = self.client()?;
        let statement = self.prepared(&client, sql)?.one;
        let values = parameters(values)?;
        self.send_queued(&client)?;
        self.changed.set(true);
        let changed = self.runtime().block_on(client.execute_raw(&statement, &values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a statement with the next ones of its transaction.
    pub(crate) fn execute_later(&self, key: RowKey, sql: &str, values: &[&dyn ToSql]) -> Result<()> {
        if self.transaction.get().is_none() {
            self.execute(sql, values)?;
            return Ok(());
        }
        let client = self.client()?;
        let prepared = self.prepared(&client, sql)?;
        let row = values.iter().map(|value| Ok(Parameter::of(*value)?.0)).collect::<Result<Vec<_>>>()?;
        let pushed = self.queue.borrow_mut().push(key, &prepared.sql, prepared.one.params(), row);
        if !pushed {
            return Err(Error::Unfit(sql.to_owned()));
        }
        let is_full = self.queue.borrow().is_full();
        if is_full { self.send_queued(&client) } else { Ok(()) }
    }

    /// Runs several statements without parameters.
    pub(crate) fn batch_execute(&self, sql: &str) -> Result<()> {
        self.run(&dialect::translate(sql))
    }

    /// Runs several statements that are PostgreSQL's own.
    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        let client = self.client()?;
        self.send_queued(&client)?;
        self.changed.set(true);
        Ok(self.runtime().block_on(client.batch_execute(sql))?)
    }

    /// Copies rows into a table by a `COPY ... FROM STDIN`. `next` adds octets to the empty buffer that it gets, and none at the
    /// end of the rows. Returns how many rows the server has taken. An error of `next` makes the server undo the statement.
    pub(crate) fn copy_in(
        &self,
        sql: &str,
        mut next: impl FnMut(&mut BytesMut) -> Result<()>,
    ) -> Result<u64> {
        let client = self.client()?;
        self.send_queued(&client)?;
        self.changed.set(true);
        let mut rows = Box::pin(self.runtime().block_on(client.copy_in::<_, Bytes>(sql))?);
        loop {
            let mut octets = BytesMut::new();
            next(&mut octets)?;
            if octets.is_empty() {
                return Ok(self.runtime().block_on(rows.as_mut().finish())?);
            }
            self.runtime().block_on(rows.send(octets.freeze()))?;
        }
    }

    /// Returns whether the server has to begin the transaction before the next statement.
    fn begin_at_server(&self) -> bool {
        let begin = self.transaction.get() == Some(Begun::Here);
        if begin {
            self.transaction.set(Some(Begun::AtTheServer));
        }
        begin
    }

    fn send_queued(&self, client: &Client) -> Result<()> {
        let groups = self.prepare_queued(client)?;
        let begin = self.begin_at_server();
        if !begin && groups.is_empty() {
            return Ok(());
        }
        Ok(self.runtime().block_on(async {
            let first = begin_if(client, begin);
            let (first, changes) = join(first, run_groups(client, &groups)).await;
            first?;
            changes
        })?)
    }

    /// Takes the queued changes, each with its prepared statement.
    fn prepare_queued(&self, client: &Client) -> Result<Vec<(Statement, Group)>> {
        let groups = self.queue.borrow_mut().take();
        if !groups.is_empty() {
            self.changed.set(true);
        }
        groups.into_iter().map(|group| Ok((self.prepared_for_many(client, &group.sql)?, group))).collect()
    }

    fn prepared(&self, client: &Client, sql: &str) -> Result<Prepared> {
        if let Some(prepared) = self.statements.borrow().get(sql) {
            return Ok(prepared.clone());
        }
        let one = self.runtime().block_on(client.prepare(&dialect::translate(sql)))?;
        let prepared = Prepared { sql: sql.into(), one, many: None };
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS_MAX {
            statements.clear();
        }
        statements.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    fn prepared_for_many(&self, client: &Client, sql: &str) -> Result<Statement> {
        let prepared = self.prepared(client, sql)?;
        if let Some(many) = prepared.many {
            return Ok(many);
        }
        let types: Vec<&str> = prepared.one.params().iter().map(Type::name).collect();
        let text = dialect::translate_for_many(sql, &types).ok_or_else(|| Error::Unfit(sql.to_owned()))?;
        let many = self.runtime().block_on(client.prepare(&text))?;
        if let Some(prepared) = self.statements.borrow_mut().get_mut(sql) {
            prepared.many = Some(many.clone());
        }
        Ok(many)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Waits for nothing: a session may be dropped by a task.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lets a connection send and receive while the runtime of its session runs. Its users get its errors.
#[expect(clippy::disallowed_methods, reason = "the task belongs to the session, and ends with its runtime")]
fn drive(connection: impl Future + Send + 'static) {
    tokio::spawn(async move { drop(connection.await) });
}

fn parameters(values: &[&dyn ToSql]) -> Result<Vec<Parameter>> {
    values.iter().map(|value| Ok(Parameter::of(*value)?)).collect()
}

/// Lets the server begin the transaction, unless it has.
async fn begin_if(client: &Client, begin: bool) -> std::result::Result<(), tokio_postgres::Error> {
    if begin { client.batch_execute("BEGIN").await } else { Ok(()) }
}

async fn rows(
    client: &Client,
    statement: &Statement,
    values: &[Parameter],
) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
    client.query_raw(statement, values).await?.try_collect().await
}

async fn run_group(
    client: &Client,
    (statement, group): &(Statement, Group),
) -> std::result::Result<u64, tokio_postgres::Error> {
    let columns: Vec<&(dyn PgToSql + Sync)> = group.columns.iter().map(Column::as_parameter).collect();
    client.execute(statement, &columns).await
}

async fn run_groups(
    client: &Client,
    groups: &[(Statement, Group)],
) -> std::result::Result<(), tokio_postgres::Error> {
    let run = |of| run_group(client, of);
    in_order(groups.iter().map(run)).await.into_iter().try_for_each(|done| done.map(drop))
}

/// Completes all futures. They are polled in their order, which is the order in which they send.
async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<MaybeDone<F>>>> = futures.map(|future| Box::pin(maybe_done(future))).collect();
    std::future::poll_fn(|cx| {
        let pending = all.iter_mut().filter_map(|future| future.as_mut().poll(cx).is_pending().then_some(()));
        if pending.count() == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    all.iter_mut().filter_map(|future| future.as_mut().take_output()).collect()
}
