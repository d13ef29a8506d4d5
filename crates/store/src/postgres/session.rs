//! A connection to PostgreSQL, used by one thread. Its runtime runs only during a call.

use super::connecting::{Connector, Driver, within};
use super::dialect;
use super::error::{PostgresError, Result};
use super::queue::{ChangeQueue, Group, QueuedStatement, RowKey};
use super::sending::{begin_if, rows, rows_of_many, run_groups};
use super::values::{self, ColumnValues, ParameterValue, parameters};
use crate::postgres::server::Server;
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt as _;
use futures_util::future::{join, join3, join4};
use rusqlite::ToSql;
use rusqlite::types::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row, Statement};

/// Statements that a session keeps prepared; beyond that it forgets all of them.
const STATEMENTS_MAX: usize = 512;

pub(crate) struct Session {
    /// None once the session is dropped.
    runtime: Option<Runtime>,
    connector: Connector,
    /// None after the connection was lost.
    client: RefCell<Option<Arc<Client>>>,
    /// What sends and receives for the client.
    driver: RefCell<Option<Driver>>,
    /// How long the server may take to answer; none if that is not known.
    answer_max: Cell<Option<Duration>>,
    /// Whether it took longer since the last question.
    was_silent: Cell<bool>,
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

/// A connection that is known to be one to PostgreSQL.
pub(crate) trait HasSession {
    fn session(&self) -> &Session;
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
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(PostgresError::Runtime)?;
        let session = Session {
            runtime: Some(runtime),
            connector: Connector::new(server, setup),
            client: RefCell::new(None),
            driver: RefCell::new(None),
            answer_max: Cell::new(None),
            was_silent: Cell::new(false),
            statements: RefCell::default(),
            queue: RefCell::default(),
            transaction: Cell::new(None),
            changed: Cell::new(false),
        };
        session.client()?;
        Ok(session)
    }

    /// Sets how long the server may take to answer. A server whose disk hangs, or something in between, may hold a connection open and
    /// never answer; the connection then counts as lost.
    #[must_use]
    pub(crate) fn answering_within(self, most: Duration) -> Session {
        self.limit_answers(most);
        self
    }

    /// The same from now on.
    pub(crate) fn limit_answers(&self, most: Duration) {
        self.answer_max.set(Some(most));
    }

    /// Returns whether an answer took too long since the last call.
    pub(crate) fn take_was_silent(&self) -> bool {
        self.was_silent.take()
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
            return Err(PostgresError::ConnectionLost);
        }
        self.statements.borrow_mut().clear();
        let (client, driver) = self.connector.connect(self.runtime())?;
        let client = Arc::new(client);
        *self.driver.borrow_mut() = Some(driver);
        *self.client.borrow_mut() = Some(client.clone());
        Ok(client)
    }

    /// Waits for the server's answer. Without one in time the connection counts as lost.
    fn wait<T>(
        &self,
        answer: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let Some(most) = self.answer_max.get() else { return Ok(self.runtime().block_on(answer)?) };
        match self.runtime().block_on(within(most, answer)) {
            Some(answered) => Ok(answered?),
            None => {
                *self.client.borrow_mut() = None;
                *self.driver.borrow_mut() = None;
                self.connector.leave_host();
                self.was_silent.set(true);
                Err(PostgresError::NoAnswer(most))
            }
        }
    }

    /// Asks the server for an answer. Connects again if the connection was lost.
    pub(crate) fn ensure_connected(&self) -> Result<()> {
        let client = self.client()?;
        let answered = self.wait(client.batch_execute(""));
        if answered.is_err() {
            *self.client.borrow_mut() = None;
        }
        answered
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
        let client = self.client.borrow().clone();
        if self.transaction.take() == Some(Begun::AtTheServer)
            && let Some(client) = client
            && !client.is_closed()
        {
            self.wait(client.batch_execute("ROLLBACK"))?;
        }
        Ok(())
    }

    /// Commits the transaction, with a last statement that fails where it must not be committed. If the connection is lost
    /// meanwhile, the error is [`PostgresError::is_connection_lost`] and the outcome is unknown.
    pub(crate) fn commit(&self, last: Option<(&str, &[&dyn ToSql])>) -> Result<()> {
        let client = self.client()?;
        let last = match last {
            Some((sql, values)) => Some((self.prepared(&client, sql)?.one, parameters(values)?)),
            None => None,
        };
        let groups = self.prepare_queued(&client)?;
        let begin = self.begin_at_server();
        self.transaction.set(None);
        self.wait(async {
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
        })
    }

    /// Runs a query.
    pub(crate) fn query(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Row>> {
        let client = self.client()?;
        let statement = self.prepared(&client, sql)?.one;
        let values = parameters(values)?;
        let groups = self.prepare_queued(&client)?;
        let begin = self.begin_at_server();
        self.wait(async {
            let first = begin_if(&client, begin);
            let (first, changes, rows) =
                join3(first, run_groups(&client, &groups), rows(&client, &statement, &values)).await;
            first?;
            changes?;
            rows
        })
    }

    /// Runs a query once for many rows of values. The rows that it finds for them come in any order.
    pub(crate) fn query_many<const N: usize>(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = [Value; N]>,
    ) -> Result<Vec<Row>> {
        let client = self.client()?;
        let types = self.prepared(&client, sql)?.one;
        let unfit = || PostgresError::Unfit(sql.to_owned());
        let columns: Option<Vec<ColumnValues>> = types.params().iter().map(ColumnValues::new).collect();
        let mut columns = columns.filter(|columns| columns.len() == N).ok_or_else(unfit)?;
        for (column, value) in values.into_iter().flat_map(|row| (0..N).zip(row)) {
            if !columns[column].push(value) {
                return Err(unfit());
            }
        }
        let statement = self.prepared_for_many(&client, sql)?;
        let groups = self.prepare_queued(&client)?;
        let begin = self.begin_at_server();
        self.wait(async {
            let first = begin_if(&client, begin);
            let found = rows_of_many(&client, &statement, &columns);
            let (first, changes, rows) = join3(first, run_groups(&client, &groups), found).await;
            first?;
            changes?;
            rows
        })
    }

    /// Runs a statement. Returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize> {
        let client = self.client()?;
        let statement = self.prepared(&client, sql)?.one;
        let values = parameters(values)?;
        self.send_queued(&client)?;
        self.changed.set(true);
        let changed = self.wait(client.execute_raw(&statement, &values))?;
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
        let row = values.iter().map(|value| Ok(ParameterValue::of(*value)?.0)).collect::<Result<Vec<_>>>()?;
        let statement = QueuedStatement {
            sql: &prepared.sql,
            types: prepared.one.params(),
            takes_arrays: false,
            adds: false,
        };
        self.push(&client, key, statement, row)
    }

    /// Runs a statement that is PostgreSQL's own and takes one array per column, with the next ones of its transaction. `types` are
    /// those of the columns. `adds`: it only adds rows whose keys no rows have.
    pub(crate) fn change_later(
        &self,
        key: RowKey,
        sql: &Arc<str>,
        types: &[Type],
        adds: bool,
        values: Vec<Value>,
    ) -> Result<()> {
        let client = self.client()?;
        self.push(&client, key, QueuedStatement { sql, types, takes_arrays: true, adds }, values)
    }

    /// Queues a change. Sends the queue if it is full, or if there is no transaction.
    fn push(
        &self,
        client: &Client,
        key: RowKey,
        statement: QueuedStatement<'_>,
        values: Vec<Value>,
    ) -> Result<()> {
        let mut queue = self.queue.borrow_mut();
        if !queue.push(key, statement, values) {
            return Err(PostgresError::Unfit(statement.sql.to_string()));
        }
        let is_due = queue.is_full() || self.transaction.get().is_none();
        drop(queue);
        if is_due { self.send_queued(client) } else { Ok(()) }
    }

    /// Whether a store was copied to the schema only in part.
    pub(crate) fn has_unfinished_copy(&self) -> Result<bool> {
        let found = self.query("SELECT to_regclass('store_copy') IS NOT NULL", &[])?;
        Ok(found.first().map(|row| values::get(row, 0)).transpose()?.unwrap_or(false))
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
        self.wait(client.batch_execute(sql))
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
        let mut rows = Box::pin(self.wait(client.copy_in::<_, Bytes>(sql))?);
        loop {
            let mut octets = BytesMut::new();
            next(&mut octets)?;
            if octets.is_empty() {
                return self.wait(rows.as_mut().finish());
            }
            self.wait(rows.send(octets.freeze()))?;
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
        self.wait(async {
            let first = begin_if(client, begin);
            let (first, changes) = join(first, run_groups(client, &groups)).await;
            first?;
            changes
        })
    }

    /// Takes the queued changes, each with its prepared statement.
    fn prepare_queued(&self, client: &Client) -> Result<Vec<(Statement, Group)>> {
        let groups = self.queue.borrow_mut().take();
        if !groups.is_empty() {
            self.changed.set(true);
        }
        let prepared = |group: Group| {
            let statement = if group.takes_arrays {
                self.prepared_from(client, &group.sql, |sql| sql.to_owned())?.one
            } else {
                self.prepared_for_many(client, &group.sql)?
            };
            Ok((statement, group))
        };
        groups.into_iter().map(prepared).collect()
    }

    fn prepared(&self, client: &Client, sql: &str) -> Result<Prepared> {
        self.prepared_from(client, sql, dialect::translate)
    }

    /// Returns a prepared statement. `translate` is called unless it is there.
    fn prepared_from(
        &self,
        client: &Client,
        sql: &str,
        translate: impl FnOnce(&str) -> String,
    ) -> Result<Prepared> {
        if let Some(prepared) = self.statements.borrow().get(sql) {
            return Ok(prepared.clone());
        }
        let one = self.wait(client.prepare(&translate(sql)))?;
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
        let text =
            dialect::translate_for_many(sql, &types).ok_or_else(|| PostgresError::Unfit(sql.to_owned()))?;
        let many = self.wait(client.prepare(&text))?;
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
