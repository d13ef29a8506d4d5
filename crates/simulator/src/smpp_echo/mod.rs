//! A reference SMPP server that stores nothing: accepts every bind and `submit_sm` and sends a DELIVRD receipt. Benchmarks
//! run the same client against it and the gateway: the ratio shows the cost of durability, independent of the machine.

mod link;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::carrier::ServerTls;
use crate::runtime;
use link::EchoLink;

/// Connections at one time; further ones are closed at once.
pub const LINKS_MAX: usize = 60_000;

/// A running reference server.
pub struct SmppEcho {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    server: JoinHandle<()>,
}

/// The state that all links share.
struct Shared {
    /// The last message id.
    ids: AtomicU64,
}

impl SmppEcho {
    /// Listens on `listen` (port 0 selects a free one), with TLS if there is a certificate.
    pub fn start(listen: SocketAddr, tls: Option<&ServerTls>) -> io::Result<SmppEcho> {
        let listener = runtime::listen(listen)?;
        let address = listener.local_addr()?;
        let acceptor = tls.map(|tls| TlsAcceptor::from(tls.config()));
        let (stop, stopped) = watch::channel(false);
        let server = runtime::spawn(serve(listener, acceptor, stopped));
        Ok(SmppEcho { address, stop, server })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening, unbinds all links and waits for them to end.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.server.await.expect("the echo's task does not panic");
    }
}

async fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, stop: watch::Receiver<bool>) {
    let shared = Arc::new(Shared { ids: AtomicU64::new(0) });
    let serve = |stream| {
        let (shared, acceptor, stop) = (Arc::clone(&shared), acceptor.clone(), stop.clone());
        async move {
            match acceptor {
                None => EchoLink::new(shared, Box::new(stream)).run(stop).await,
                // TLS has sent an alert to a client whose handshake failed.
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        EchoLink::new(shared, Box::new(stream)).run(stop).await;
                    }
                }
            }
        }
    };
    let mut links = runtime::accept(listener, LINKS_MAX, stop.clone(), serve).await;
    while let Some(ended) = links.join_next().await {
        ended.expect("a link's task does not panic");
    }
}
