//! A server over SMPP that stores nothing: it lets everybody bind, answers each `submit_sm` at once with the next
//! number as its id, and sends the receipt that it was delivered. Benchmarks measure the gateway beside it with the
//! same client, so that the ratio says what durability costs and not how fast the machine is.

mod link;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::carrier::Tls;
use crate::runtime;
use link::Link;

/// Connections at one time; more are closed as they come.
pub const LINKS_MAX: usize = 60_000;
/// Connections that may wait to be let in.
const BACKLOG: u32 = 4096;

/// A running echo.
pub struct SmppEcho {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
}

/// What all links share.
struct Shared {
    /// The last id given.
    ids: AtomicU64,
}

impl SmppEcho {
    /// Listens on `listen` (port 0: any free one), with TLS if there is a certificate, until stopped.
    pub fn start(listen: SocketAddr, tls: Option<&Tls>) -> io::Result<SmppEcho> {
        let socket = if listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.bind(listen)?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        let acceptor = tls.map(|tls| TlsAcceptor::from(tls.config()));
        let (stop, stopped) = watch::channel(false);
        let server = runtime::spawn(serve(listener, acceptor, stopped));
        Ok(SmppEcho { address, stop, server })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no new connections, unbinds the open ones and waits for them to end.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.server.await.expect("the echo's task does not panic");
    }
}

async fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, mut stop: watch::Receiver<bool>) {
    let shared = Arc::new(Shared { ids: AtomicU64::new(0) });
    let mut links = JoinSet::new();
    loop {
        let link_stop = stop.clone();
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                if links.len() >= LINKS_MAX || stream.set_nodelay(true).is_err() {
                    continue;
                }
                let (shared, acceptor) = (Arc::clone(&shared), acceptor.clone());
                links.spawn(async move {
                    match acceptor {
                        None => Link::new(shared, Box::new(stream)).run(link_stop).await,
                        // A client whose handshake fails has been told so by TLS itself.
                        Some(acceptor) => if let Ok(stream) = acceptor.accept(stream).await {
                            Link::new(shared, Box::new(stream)).run(link_stop).await;
                        }
                    }
                });
            }
            Some(ended) = links.join_next() => ended.expect("a link's task does not panic"),
            // The owner is gone or wants the end: it is the same.
            _ = stop.changed() => break,
        }
    }
    drop(listener);
    while let Some(ended) = links.join_next().await {
        ended.expect("a link's task does not panic");
    }
}
