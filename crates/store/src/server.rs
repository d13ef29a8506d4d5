//! The PostgreSQL server of a store.

use crate::error::StoreError;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// How long to wait for a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// How long a server may not confirm what was sent to it.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// The port of PostgreSQL by default.
const PORT: u16 = 5432;
/// The schema of the tables by default.
const SCHEMA: &str = "hermod";

/// Where the server is, and how to sign in.
#[derive(Clone)]
pub struct Server {
    pub(crate) config: Config,
    /// The schema of the tables, in the words of PostgreSQL: a name space of its own.
    pub(crate) schema: String,
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
}

/// Without the password.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.name()).finish()
    }
}
