//! Connects to the server. With several hosts the first one that can be used is.

use super::error::{PostgresError, Result};
use super::tls::Encryption;
use crate::postgres::server::Server;
use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;
use tokio_postgres::{Client, Config, NoTls};

/// How long one host may take to accept a connection and to get it ready.
const CONNECT_MAX: Duration = Duration::from_secs(8);

pub(super) struct Connector {
    /// One for each host.
    hosts: Vec<Config>,
    /// The host to try first.
    first: Cell<usize>,
    encryption: Option<Encryption>,
    /// Statements to run on every new connection.
    setup: String,
}

impl Connector {
    pub(super) fn new(server: &Server, setup: &str) -> Connector {
        Connector {
            hosts: server.hosts(),
            first: Cell::new(0),
            encryption: server.authorities.as_ref().map(Encryption::new),
            setup: format!("SET search_path = \"{}\"; {setup}", server.schema),
        }
    }

    /// Tries the next host first from now on. A server whose disk hangs accepts connections all the same.
    pub(super) fn leave_host(&self) {
        self.first.set((self.first.get() + 1) % self.hosts.len().max(1));
    }

    /// Connects to the first host that gets a connection ready in time.
    pub(super) fn connect(&self, runtime: &Runtime) -> Result<(Client, Driver)> {
        let mut last = PostgresError::ConnectionLost;
        let first = self.first.get();
        for index in (first..self.hosts.len()).chain(0..first) {
            match runtime.block_on(within(CONNECT_MAX, self.connect_to(&self.hosts[index]))) {
                Some(Ok(connected)) => {
                    self.first.set(index);
                    return Ok(connected);
                }
                Some(Err(error)) => last = error.into(),
                None => last = PostgresError::NoAnswer(CONNECT_MAX),
            }
        }
        Err(last)
    }

    async fn connect_to(
        &self,
        host: &Config,
    ) -> std::result::Result<(Client, Driver), tokio_postgres::Error> {
        let (client, driver) = match self.encryption.clone() {
            Some(encryption) => {
                let (client, connection) = host.connect(encryption).await?;
                (client, drive(connection))
            }
            None => {
                let (client, connection) = host.connect(NoTls).await?;
                (client, drive(connection))
            }
        };
        client.batch_execute(&self.setup).await?;
        Ok((client, driver))
    }
}

/// Sends and receives for a client. Closes the connection when it is dropped.
pub(super) struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Lets a connection send and receive while the runtime of its session runs. Its users get its errors.
#[expect(clippy::disallowed_methods, reason = "the task belongs to the session, and ends with its runtime")]
fn drive(connection: impl Future + Send + 'static) -> Driver {
    Driver(tokio::spawn(async move { drop(connection.await) }).abort_handle())
}

/// Returns what a future does; none if it takes longer.
#[expect(clippy::disallowed_methods, reason = "a server answers in real time, also under a test's clock")]
pub(super) async fn within<T>(most: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(most, future).await.ok()
}
