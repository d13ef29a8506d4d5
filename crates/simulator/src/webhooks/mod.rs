//! A webhook receiver that records all posts and behaves well or badly: failing, hanging, slow, endless. HTTP/1.1 is written by
//! hand, because an HTTP server library would not allow most of these faults.

mod behaviour;
mod connection;
mod delays;
mod record;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub use behaviour::{InvalidBehaviour, ReceiverBehaviour};
pub use delays::{Delays, clock_number};
pub use record::{POSTS_KEPT_MAX, PostRecord, ReceivedPost};

use crate::carrier::ServerTls;
use crate::runtime;

/// Connections at one time; further ones are closed at once.
pub const CONNECTIONS_MAX: usize = 20_000;
/// How often `wait_for` checks the number of posts.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Returns whether a post is valid.
pub type Check = Arc<dyn Fn(&ReceivedPost) -> bool + Send + Sync>;

/// A running webhook receiver.
pub struct WebhookReceiver {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
}

/// The state that all connections share.
struct Shared {
    behaviour: watch::Sender<ReceiverBehaviour>,
    check: Option<Check>,
    record: Mutex<PostRecord>,
}

impl Shared {
    fn record(&self) -> MutexGuard<'_, PostRecord> {
        self.record.lock().expect("no holder of the record panics")
    }
}

impl WebhookReceiver {
    /// Listens on `listen` (port 0 selects a free one), with TLS if there is a certificate.
    pub fn start(
        listen: SocketAddr,
        behaviour: ReceiverBehaviour,
        tls: Option<&ServerTls>,
    ) -> io::Result<WebhookReceiver> {
        WebhookReceiver::start_checking(listen, behaviour, tls, None)
    }

    /// Starts a receiver that responds with 403 to posts that `check` rejects.
    pub fn start_checking(
        listen: SocketAddr,
        behaviour: ReceiverBehaviour,
        tls: Option<&ServerTls>,
        check: Option<Check>,
    ) -> io::Result<WebhookReceiver> {
        let listener = runtime::listen(listen)?;
        let address = listener.local_addr()?;
        let acceptor = tls.map(|tls| TlsAcceptor::from(tls.config()));
        let shared =
            Arc::new(Shared { behaviour: watch::Sender::new(behaviour), check, record: Mutex::default() });
        let (stop, stopped) = watch::channel(false);
        let server = runtime::spawn(serve(listener, acceptor, Arc::clone(&shared), stopped));
        let scheme = if tls.is_some() { "https" } else { "http" };
        Ok(WebhookReceiver { address, scheme, shared, stop, server })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL to post to.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/{path}", self.scheme, self.address)
    }

    /// Sets the behaviour for requests from now on.
    pub fn set_behaviour(&self, behaviour: ReceiverBehaviour) {
        self.shared.behaviour.send_replace(behaviour);
    }

    /// Posts received so far, oldest first; at most [`POSTS_KEPT_MAX`].
    pub fn posts(&self) -> Vec<ReceivedPost> {
        self.shared.record().posts.iter().cloned().collect()
    }

    /// Posts received after the first `count`, oldest first.
    pub fn posts_after(&self, count: u64) -> Vec<ReceivedPost> {
        let record = self.shared.record();
        let new = usize::try_from(record.count.saturating_sub(count)).unwrap_or(usize::MAX);
        record.posts.iter().skip(record.posts.len().saturating_sub(new)).cloned().collect()
    }

    /// Number of posts received.
    pub fn count(&self) -> u64 {
        self.shared.record().count
    }

    /// Number of connections accepted.
    pub fn connections(&self) -> u64 {
        self.shared.record().connections
    }

    /// Delays of posts by the time in their recipients' numbers; see [`clock_number`].
    pub fn delays(&self) -> Delays {
        self.shared.record().delays.clone()
    }

    /// Waits until `posts` posts were received or `patience` has passed; returns the posts received so far.
    pub async fn wait_for(&self, posts: u64, patience: Duration) -> Vec<ReceivedPost> {
        let until = runtime::now() + patience;
        while self.count() < posts && runtime::now() < until {
            runtime::pause(CHECK_INTERVAL).await;
        }
        self.posts()
    }

    /// Stops listening and cuts open connections.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.server.await.expect("the receiver's task does not panic");
    }
}

async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
) {
    let serve = |stream| {
        shared.record().connections += 1;
        connection::run_connection(stream, acceptor.clone(), Arc::clone(&shared))
    };
    runtime::accept(listener, CONNECTIONS_MAX, stop, serve).await.shutdown().await;
}
