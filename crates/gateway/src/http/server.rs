//! Serves HTTP connections: limits their number, enforces timeouts, and drains them when the gateway stops: first every
//! response says that its connection is closed, then connections without a request are closed too. Connections are HTTP/1.1 unless the client chose HTTP/2 in the TLS handshake.

use super::admission::Admission;
use super::framing::TwoLengths;
use super::http2::{self, Http2Connection};
use super::limits::{HttpLimits, LAST_READ};
use super::listener::{HttpListener, Security};
use super::no_answer::{self, NoAnswer};
use super::observed_stream::ObservedStream;
use super::raw_heads::{LengthHeaders, RawHeads};
use super::streamed_body;
use super::timeouts::{ConnectionInfo, Stage, TimeoutAction};
use crate::clock::{Clock, within};
use crate::listeners::{
    ACCEPT_PAUSE, ConnectionSlot, Counted, TrustedProxies, set_socket_options, tls_handshake,
};
use crate::workers::Workers;
use axum::Router;
use axum::http::header::{CONNECTION, TRANSFER_ENCODING};
use axum::http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use metrics::gauge;
use parking_lot::Mutex;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A longer head is rejected with 431.
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// The read buffer of a connection.
const READ_BYTES_MAX: usize = 64 * 1024;

/// Accepts connections until `workers` leave. Returns when the last connection has ended.
pub async fn serve(
    listener: HttpListener,
    router: Router,
    clock: Clock,
    workers: &Workers,
    limits: HttpLimits,
) {
    let (leaving, stopping) = (workers.leaving(), workers.stopping());
    let room = Arc::new(Semaphore::new(usize::try_from(limits.connections_max).expect("32 bits fit")));
    let open = gauge!("hermod_http_connections");
    let admission = Admission::new(&listener, limits, clock.clone());
    let start = |(stream, peer, permit): Accepted| {
        let connection = Connection {
            router: router.clone(),
            clock: clock.clone(),
            limits,
            peer,
            is_proxied: false,
            proxies: listener.proxies.clone(),
            // Child tokens: all connections would share the parent's lock at every wake-up.
            leaving: leaving.child_token(),
            stopping: stopping.child_token(),
            workers: workers.clone(),
            _counted: Counted::new(open.clone()),
            _permit: permit,
            slot: None,
        };
        // The accept loop must not wait for a peer: the connection's task reads the PROXY header and performs the handshake.
        let (admission, security) = (admission.clone(), listener.security.clone());
        workers.spawn_named("http/connection", connection.admit_and_run(stream, admission, security));
    };
    loop {
        tokio::select! {
            biased;
            () = leaving.cancelled() => break,
            accepted = next_connection(&listener, &room, &clock) => start(accepted),
        }
    }
    match waiting_connections(&listener, &room) {
        Ok(waiting) => waiting.into_iter().for_each(start),
        Err(error) => tracing::warn!(%error, "Connections that waited to be accepted are reset"),
    }
    drop(listener);
    // All permits are back when all connections have ended. The semaphore is never closed.
    let _ = room.acquire_many(limits.connections_max).await;
}

/// A connection, its peer, and its place among the connections.
type Accepted = (TcpStream, IpAddr, OwnedSemaphorePermit);

/// Accepts the next connection.
async fn next_connection(listener: &HttpListener, room: &Arc<Semaphore>, clock: &Clock) -> Accepted {
    let permit = room.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.socket.accept().await {
            Ok((stream, peer)) => {
                let peer = peer.ip().to_canonical();
                if listener.admits(peer) {
                    return (stream, peer, permit);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "Could not accept an HTTP connection");
                clock.sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Accepts what waits at the listener, which is to be closed: with it the connections would be reset that the kernel has accepted.
/// Asks the kernel, because the runtime may not know of them yet.
fn waiting_connections(listener: &HttpListener, room: &Arc<Semaphore>) -> std::io::Result<Vec<Accepted>> {
    let socket = std::net::TcpListener::from(listener.socket.as_fd().try_clone_to_owned()?);
    let mut waiting = Vec::new();
    while let Ok(permit) = room.clone().try_acquire_owned() {
        let (stream, peer) = match socket.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            // Usually because there is none.
            Err(_) => break,
        };
        let peer = peer.ip().to_canonical();
        if !listener.admits(peer) {
            continue;
        }
        if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
            waiting.push((stream, peer, permit));
        }
    }
    Ok(waiting)
}

struct Connection {
    router: Router,
    clock: Clock,
    limits: HttpLimits,
    /// The peer address, and once it is admitted that of the client. Canonical.
    peer: IpAddr,
    /// The connection began with a PROXY header.
    is_proxied: bool,
    proxies: Arc<TrustedProxies>,
    /// Each response closes the connection from then on.
    leaving: CancellationToken,
    stopping: CancellationToken,
    workers: Workers,
    _counted: Counted,
    _permit: OwnedSemaphorePermit,
    slot: Option<Arc<ConnectionSlot>>,
}

impl Connection {
    async fn admit_and_run(mut self, mut stream: TcpStream, admission: Admission, security: Security) {
        set_socket_options(&stream);
        let admitted = tokio::select! {
            biased;
            () = self.stopping.cancelled() => None,
            client = admission.admit(&mut stream, self.peer) => client,
        };
        let Some(client) = admitted else { return };
        (self.peer, self.is_proxied, self.slot) = (client.address, client.is_proxied, client.slot);
        self.run(stream, security).await;
    }

    fn info(&self) -> ConnectionInfo {
        let direct = ConnectionInfo::new(self.peer, self.proxies.clone(), self.clock.clone());
        ConnectionInfo { is_proxied: self.is_proxied, ..direct }
    }

    async fn run(self, stream: TcpStream, security: Security) {
        match security {
            Security::PlainNearby | Security::PlainForAll => self.run_session(stream).await,
            // Boxed, so that a plain connection does not reserve the memory of TLS.
            Security::Tls(tls) => {
                let handshake = async {
                    tokio::select! {
                        biased;
                        () = self.stopping.cancelled() => None,
                        stream = tls_handshake(&tls, stream, &self.clock, self.limits.handshake_max) => stream,
                    }
                };
                let Some(stream) = Box::pin(handshake).await else { return };
                if stream.get_ref().1.alpn_protocol() == Some(http2::ALPN.as_bytes()) {
                    Box::pin(self.run_http2(stream)).await;
                } else {
                    Box::pin(self.run_session(stream)).await;
                }
            }
        }
    }

    async fn run_http2(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let connection = Http2Connection {
            router: self.router.clone(),
            info: self.info(),
            clock: self.clock.clone(),
            limits: self.limits,
            leaving: self.leaving.clone(),
            workers: self.workers.clone(),
            slot: self.slot.clone(),
        };
        connection.run(stream).await;
    }

    async fn run_session(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let connection = self.info();
        let timeouts = connection.timeouts.clone();
        let heads = Arc::new(Mutex::new(RawHeads::default()));
        let stream = ObservedStream { stream, timeouts: timeouts.clone(), heads: heads.clone() };
        let serving = http1::Builder::new()
            .max_header_size(HEAD_BYTES_MAX)
            .max_buf_size(READ_BYTES_MAX)
            // A client that has closed its sending side still gets the response: it may have been charged.
            .half_close(true)
            .serve_connection(
                TokioIo::new(stream),
                service_of(self.router.clone(), connection, heads, self.slot.clone(), self.leaving.clone()),
            );
        let mut serving = pin!(serving);
        let first_look = self.clock.moment().plus(self.limits.header_read_max.min(self.limits.body_read_max));
        let mut timer = pin!(self.clock.sleep_until(first_look));
        let mut draining = false;
        loop {
            tokio::select! {
                biased;
                // On a protocol error or a disconnect hyper has already responded if possible.
                _ended = serving.as_mut() => return,
                () = self.stopping.cancelled(), if !draining => {
                    // A request that has arrived is answered, also if the runtime does not know of it yet.
                    if within(LAST_READ, serving.as_mut()).await.is_ok() {
                        return;
                    }
                    draining = true;
                    serving.as_mut().graceful_shutdown();
                    timer.set(self.clock.sleep_until(self.clock.moment().plus(self.limits.drain_max)));
                }
                () = timer.as_mut() => {
                    if draining {
                        return;
                    }
                    match timeouts.check(&self.limits, self.clock.moment()) {
                        TimeoutAction::Close => return,
                        TimeoutAction::CheckAgain(at) => timer.set(self.clock.sleep_until(at)),
                        TimeoutAction::GiveUpOnBody(at) => {
                            timeouts.enter(Stage::Overdue);
                            timer.set(self.clock.sleep_until(at));
                        }
                    }
                }
            }
        }
    }
}

/// Wraps the router for hyper: adds the connection information to each request, and tracks the connection's stage.
fn service_of(
    router: Router,
    connection: ConnectionInfo,
    heads: Arc<Mutex<RawHeads>>,
    slot: Option<Arc<ConnectionSlot>>,
    leaving: CancellationToken,
) -> impl Service<Request<Incoming>, Response = axum::response::Response, Error = NoAnswer, Future: Send> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        connection.timeouts.enter(Stage::Serving);
        if let Some(slot) = &slot {
            slot.establish();
        }
        request.extensions_mut().insert(connection.clone());
        let lengths = heads.lock().hand_on();
        let is_chunked = || request.headers().contains_key(TRANSFER_ENCODING);
        if lengths == LengthHeaders::Two || (lengths == LengthHeaders::Unknown && is_chunked()) {
            request.extensions_mut().insert(TwoLengths);
        }
        let (timeouts, leaving) = (connection.timeouts.clone(), leaving.clone());
        let answer = router.call(request);
        async move {
            let Ok(mut answer) = answer.await;
            if leaving.is_cancelled() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            timeouts.enter(Stage::Idle);
            Ok(streamed_body::follow(no_answer::checked(answer)?, &timeouts))
        }
    })
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
