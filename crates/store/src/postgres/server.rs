//! The PostgreSQL server of a store, and its nodes.

use super::error::PostgresError;
use super::values;
use crate::error::StoreError;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_rustls::rustls::RootCertStore;

/// How long to wait for a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(3);
/// How long a server may not confirm what was sent to it.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How long a connection is silent before the server is asked whether it is there, and how often then. A machine may be lost
/// after it has confirmed a commit and before it has answered: only these questions notice that. The system asks again after 75 s
/// by default.
const ASK_AFTER: Duration = Duration::from_secs(3);
const ASK_EVERY: Duration = Duration::from_secs(2);
/// The schema of the tables by default.
const SCHEMA: &str = "hermod";

/// Where the server is, and how to sign in.
#[derive(Clone)]
pub struct Server {
    pub(crate) config: Config,
    /// The schema of the tables, in the words of PostgreSQL: a name space of its own.
    pub(crate) schema: String,
    /// Who may have signed the server's certificate; none without TLS.
    pub(crate) authorities: Option<Arc<RootCertStore>>,
    /// How this process is a node of several; none if it is the only one.
    pub(crate) node: Option<Arc<NodeOptions>>,
}

/// How a process is one of several nodes on a server.
pub struct NodeOptions {
    /// Unique among the nodes.
    pub name: String,
    pub listener: Option<NodeListener>,
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// The key that all nodes on a server share.
#[derive(Clone)]
pub struct NodeKey(pub [u8; 32]);

/// Where other nodes connect.
pub struct NodeListener {
    pub socket: TcpListener,
    /// The address of the socket as other nodes reach it.
    pub address: String,
    pub key: NodeKey,
}

/// A node, and which run of it: a process that is started again has the next epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeRun {
    pub(crate) id: u32,
    pub(crate) epoch: u64,
}

impl NodeRun {
    /// Returns its columns.
    pub(crate) fn columns(self) -> (i64, i64) {
        (i64::from(self.id), self.epoch.cast_signed())
    }

    /// Reads its two columns, of which `column` is the first.
    pub(crate) fn read(row: &tokio_postgres::Row, column: usize) -> Result<NodeRun, PostgresError> {
        let (id, epoch): (i64, i64) = (values::get(row, column)?, values::get(row, column + 1)?);
        Ok(NodeRun { id: u32::try_from(id).unwrap_or(0), epoch: epoch.cast_unsigned() })
    }

    /// Returns the name under which PostgreSQL lists the connection that writes for this run.
    pub(crate) fn application_name(self, schema: &str) -> String {
        format!("hermod {:08x} {}.{}", crc32c::crc32c(schema.as_bytes()), self.id, self.epoch)
    }
}

/// The node that sent an operation, and the operation's number there: the first one of a process is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentBy {
    pub node: NodeRun,
    pub number: u64,
    /// Up to this number the node has the answers to all its operations.
    pub settled: u64,
}

impl Server {
    /// Reads `postgres://user:password@host:port/database`, or the server's own form of it. Without `sslmode` a server on
    /// another machine needs TLS, and one on this machine gets none; of several servers all need TLS if one is on another
    /// machine. Rejects `sslmode=prefer`, which anyone between us and the server can turn into a connection without TLS, and
    /// addresses that do not belong to one host each.
    pub fn parse(url: &str) -> Result<Server, StoreError> {
        let mut config: Config =
            url.parse().map_err(|error: tokio_postgres::Error| StoreError::Server(error.to_string()))?;
        let (hosts, addresses) = (config.get_hosts().len(), config.get_hostaddrs().len());
        if hosts != addresses && hosts > 0 && addresses > 0 {
            let rule = format!(
                "{hosts} hosts have {addresses} addresses in hostaddr: write one address for each host, or none"
            );
            return Err(StoreError::Server(rule));
        }
        // A server that is gone without a word is noticed by its silence.
        config.application_name("hermod").tcp_user_timeout(SILENCE_MAX);
        config.keepalives_idle(ASK_AFTER).keepalives_interval(ASK_EVERY);
        // A standby that is not promoted yet counts as a server that cannot be reached: there every operation would fail.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.connect_timeout(CONNECT_WAIT);
        if !url.contains("sslmode=") {
            config.ssl_mode(if is_on_this_machine(&config) { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            let rule = "sslmode is require or disable: prefer does without TLS whenever TLS fails";
            return Err(StoreError::Server(rule.to_owned()));
        }
        if config.get_ssl_mode() == SslMode::Require && config.get_hosts().is_empty() {
            let rule = "TLS needs the server's name for its certificate: write host=NAME beside hostaddr";
            return Err(StoreError::Server(rule.to_owned()));
        }
        Ok(Server { config, schema: SCHEMA.to_owned(), authorities: None, node: None })
    }

    /// Returns the settings for each host by itself: one that does not answer must not keep us from the next.
    pub(crate) fn hosts(&self) -> Vec<Config> {
        let config = &self.config;
        let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
        let mut alone = Config::new();
        config.get_user().map(|user| alone.user(user));
        config.get_password().map(|password| alone.password(password));
        config.get_dbname().map(|name| alone.dbname(name));
        config.get_options().map(|options| alone.options(options));
        config.get_application_name().map(|name| alone.application_name(name));
        config.get_connect_timeout().map(|most| alone.connect_timeout(*most));
        config.get_tcp_user_timeout().map(|most| alone.tcp_user_timeout(*most));
        config.get_keepalives_interval().map(|pause| alone.keepalives_interval(pause));
        config.get_keepalives_retries().map(|count| alone.keepalives_retries(count));
        alone.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
        alone.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
        alone.target_session_attrs(config.get_target_session_attrs());
        alone.channel_binding(config.get_channel_binding());
        let count = hosts.len().max(addresses.len());
        let host_of = |index: usize| {
            let mut one = alone.clone();
            match hosts.get(index) {
                Some(Host::Tcp(name)) => drop(one.host(name)),
                Some(Host::Unix(path)) => drop(one.host_path(path)),
                None => {}
            }
            addresses.get(index).map(|address| one.hostaddr(*address));
            ports.get(index).or(ports.first()).map(|port| one.port(*port));
            one
        };
        (0..count).map(host_of).collect()
    }

    /// Whether connections may use TLS, for which [`Server::with_authorities`] is needed.
    pub fn may_use_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    /// Sets who may have signed the server's certificate.
    #[must_use]
    pub fn with_authorities(self, authorities: RootCertStore) -> Server {
        Server { authorities: Some(Arc::new(authorities)), ..self }
    }

    /// Makes the process one of several nodes.
    #[must_use]
    pub fn as_node(self, options: NodeOptions) -> Server {
        Server { node: Some(Arc::new(options)), ..self }
    }

    /// Puts the tables into this schema instead of `hermod`. Several stores can share a database by that.
    #[must_use]
    pub fn with_schema(self, name: &str) -> Server {
        Server { schema: name.replace('"', ""), ..self }
    }

    /// Returns where the server is, without the password.
    pub fn name(&self) -> String {
        let host = self.config.get_hosts().first().map_or_else(String::new, |host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        format!("PostgreSQL {} on {host}", self.config.get_dbname().unwrap_or("(default database)"))
    }
}

/// Runs work that waits for a server on a thread of its own: a connection blocks its thread, which a task must not do.
pub(crate) fn run_on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| threads.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Without the password.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.name()).finish()
    }
}

/// Whether the connections to every server stay on this machine. They go to its `hostaddr` if it has one, and the name of
/// the host does not count then.
fn is_on_this_machine(config: &Config) -> bool {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    (0..hosts.len().max(addresses.len())).all(|index| match addresses.get(index) {
        Some(address) => address.is_loopback(),
        None => hosts.get(index).is_some_and(is_local),
    })
}

/// Whether a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
