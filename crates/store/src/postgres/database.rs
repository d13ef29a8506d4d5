//! A PostgreSQL server as a store uses it.

use super::session::Session;
use super::writing::WritingSession;
use crate::error::StoreError;
use crate::sql::{Connection, Error};
use crate::sqlite::lock::{self, FolderLock};
use crate::sqlite::readers::Readers;
use hermod_engine::tables::TableError;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A read sees one state of the database, changes nothing, and is stopped after as long as a read of the embedded store.
const READER_SETUP: &str = "SET default_transaction_read_only = on; SET jit = off;
     SET default_transaction_isolation = 'repeatable read'; SET statement_timeout = '5s';
     SET client_min_messages = warning;";

/// How long to wait for a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// How long a server may not confirm what was sent to it.
const SILENCE_MAX: Duration = Duration::from_secs(10);
const AUDITOR_SETUP: &str = "SET default_transaction_isolation = 'repeatable read'; SET jit = off; SET client_min_messages = warning;";

/// The port of PostgreSQL by default.
const PORT: u16 = 5432;
/// The schema of the tables by default.
const SCHEMA: &str = "hermod";

/// Where the server is, and how to sign in.
#[derive(Clone)]
pub struct Server {
    pub(super) config: Config,
    /// The schema of the tables, in the words of PostgreSQL: a name space of its own.
    pub(super) schema: String,
}

impl Server {
    /// Reads `postgres://user:password@host:port/database`, or the server's own form of it.
    pub fn parse(url: &str) -> Result<Server, StoreError> {
        let mut config: Config =
            url.parse().map_err(|error: tokio_postgres::Error| StoreError::Server(error.to_string()))?;
        // A server that is gone without a word is noticed by its silence.
        config.application_name("hermod").keepalives_idle(SILENCE_MAX).tcp_user_timeout(SILENCE_MAX);
        config.connect_timeout(CONNECT_WAIT);
        Ok(Server { config, schema: SCHEMA.to_owned() })
    }

    /// Puts the tables into this schema instead of `hermod`. Several stores can share a database by that.
    #[must_use]
    pub fn with_schema(self, name: &str) -> Server {
        Server { schema: name.replace('"', ""), ..self }
    }

    /// Returns the first address, if it is one of TCP in numbers.
    pub fn address(&self) -> Option<SocketAddr> {
        let Some(Host::Tcp(host)) = self.config.get_hosts().first() else { return None };
        let port = self.config.get_ports().first().copied().unwrap_or(PORT);
        Some(SocketAddr::new(host.parse().ok()?, port))
    }

    /// Returns the same database at another address, such as that of a proxy.
    #[must_use]
    pub fn at(&self, address: SocketAddr) -> Server {
        let mut config = Config::new();
        config.host(address.ip().to_string()).port(address.port());
        if let Some(user) = self.config.get_user() {
            config.user(user);
        }
        if let Some(password) = self.config.get_password() {
            config.password(password);
        }
        if let Some(database) = self.config.get_dbname() {
            config.dbname(database);
        }
        Server { config, schema: self.schema.clone() }
    }

    /// Returns where the server is, without the password.
    pub(crate) fn name(&self) -> String {
        let host = self.config.get_hosts().first().map_or_else(String::new, |host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        format!("PostgreSQL {} on {host}", self.config.get_dbname().unwrap_or("(default database)"))
    }

    /// Returns a connection for an audit, which takes as long as it needs and makes temporary tables.
    pub(crate) fn auditor(&self) -> Result<Connection, TableError> {
        let session = Session::connect(self, AUDITOR_SETUP).map_err(Error::from)?;
        Ok(Connection::Postgres(Box::new(session)))
    }

    pub(crate) fn reader(&self) -> Result<Connection, TableError> {
        let session = Session::connect(self, READER_SETUP).map_err(Error::from)?;
        Ok(Connection::Postgres(Box::new(session)))
    }
}

/// Without the password.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.name()).finish()
    }
}

/// The readers of a store on PostgreSQL.
pub(crate) struct PostgresDatabase {
    readers: Readers,
    server: Server,
    /// Held for as long as the store is open: the folder has the record, and commands look whether a gateway runs on it.
    lock: Mutex<Option<FolderLock>>,
}

impl PostgresDatabase {
    pub(crate) fn open(
        folder: &Path,
        server: &Server,
    ) -> Result<(PostgresDatabase, WritingSession), StoreError> {
        lock::make_folder(folder)?;
        let lock = Mutex::new(Some(FolderLock::take(folder)?));
        let writing = WritingSession::open(server)?;
        let readers = Readers::open_with(|| server.reader())?;
        Ok((PostgresDatabase { readers, server: server.clone(), lock }, writing))
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Runs a read on one of the readers' connections. It sees every batch that was committed before.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, TableError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.run(read).await
    }

    pub(crate) fn close(&self) {
        self.readers.close();
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
