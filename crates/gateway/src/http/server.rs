//! Carries HTTP/1.1 connections: so many at a time, each with a limit on how long it may keep us waiting, and all of them
//! finished in order when the gateway stops.

use super::framing::TwoLengths;
use super::limits::Limits;
use super::listener::{Entrance, Security};
use super::observed_stream::Watched;
use super::raw_heads::{Lengths, RawHeads};
use super::timeouts::{Carried, Stage, Verdict};
use crate::arrivals::{
    ACCEPT_PAUSE, Counted, Crowd, PerAddress, Place, TrustedProxies, set_options, shake_hands, site_of,
};
use crate::clock::Clock;
use crate::workers::Workers;
use axum::Router;
use axum::http::Request;
use axum::http::header::TRANSFER_ENCODING;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use metrics::{counter, gauge};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A head longer than this is refused with 431.
const HEAD_BYTES_MAX: usize = 32 * 1024;

/// What a connection may hold of what it has read and not yet used.
const READ_BYTES_MAX: usize = 64 * 1024;

/// Serves until `workers` stop, then finishes what is in flight. Returns when the last connection has ended.
pub async fn serve(entrance: Entrance, router: Router, clock: Clock, workers: &Workers, limits: Limits) {
    let stopping = workers.stopping();
    let room = Arc::new(Semaphore::new(usize::try_from(limits.connections_max).expect("32 bits fit")));
    let open = gauge!("hermod_http_connections");
    let crowd = Crowd::default();
    while let Some((stream, peer, permit)) = next_connection(&entrance, &room, &stopping, &clock).await {
        let Ok(place) = find_place(&crowd, &entrance, peer, limits) else { continue };
        let connection = Connection {
            router: router.clone(),
            clock: clock.clone(),
            limits,
            peer,
            proxies: entrance.proxies.clone(),
            // Its own child: the parent's lock would be shared by every connection at every wake-up.
            stopping: stopping.child_token(),
            _counted: Counted::new(open.clone()),
            _permit: permit,
            place: place.map(Arc::new),
        };
        // Nothing that waits for the other side happens here: the handshake is the connection's own affair.
        workers.spawn_named("http/connection", connection.carry(stream, entrance.security.clone()));
    }
    drop(entrance);
    // All permits back means all connections ended. Nobody closes the semaphore, so this cannot fail.
    let _ = room.acquire_many(limits.connections_max).await;
}

struct Crowded;

/// A trusted proxy needs no place.
fn find_place(
    crowd: &Crowd,
    entrance: &Entrance,
    peer: IpAddr,
    limits: Limits,
) -> Result<Option<Place>, Crowded> {
    if entrance.proxies.trust(peer) {
        return Ok(None);
    }
    let limits = PerAddress { open_max: limits.per_address_max, half_open_max: limits.half_open_max };
    let place = crowd.enter(site_of(peer), limits);
    if place.is_none() {
        counter!("hermod_http_crowded_total").increment(1);
        tracing::debug!(%peer, "Cut off a connection: its address holds as many as it may");
    }
    place.map(Some).ok_or(Crowded)
}

/// `None` once the gateway stops.
async fn next_connection(
    entrance: &Entrance,
    room: &Arc<Semaphore>,
    stopping: &CancellationToken,
    clock: &Clock,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let accept = async {
        let permit = room.clone().acquire_owned().await.expect("nobody closes the semaphore");
        loop {
            match entrance.listener.accept().await {
                Ok((stream, peer)) => {
                    let peer = peer.ip().to_canonical();
                    if entrance.admits(peer) {
                        return (stream, peer, permit);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "Could not accept an HTTP connection");
                    clock.sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stopping.cancelled() => None,
        accepted = accept => Some(accepted),
    }
}

struct Connection {
    router: Router,
    clock: Clock,
    limits: Limits,
    /// The other end, canonical.
    peer: IpAddr,
    proxies: Arc<TrustedProxies>,
    stopping: CancellationToken,
    _counted: Counted,
    _permit: OwnedSemaphorePermit,
    place: Option<Arc<Place>>,
}

impl Connection {
    async fn carry(self, stream: TcpStream, security: Security) {
        set_options(&stream);
        match security {
            Security::PlainNearby | Security::PlainForAll => self.converse(stream).await,
            // In a box of its own: a plain connection should not set memory aside for what only TLS needs.
            Security::Tls(tls) => {
                let shaken = async {
                    tokio::select! {
                        biased;
                        () = self.stopping.cancelled() => None,
                        stream = shake_hands(&tls, stream, &self.clock, self.limits.handshake_max) => stream,
                    }
                };
                if let Some(stream) = Box::pin(shaken).await {
                    Box::pin(self.converse(stream)).await;
                }
            }
        }
    }

    async fn converse(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let carried = Carried::new(self.peer, self.proxies.clone(), self.clock.clone());
        let patience = carried.patience.clone();
        let heads = Arc::new(Mutex::new(RawHeads::default()));
        let stream = Watched { stream, patience: patience.clone(), heads: heads.clone() };
        let serving = http1::Builder::new()
            .max_header_size(HEAD_BYTES_MAX)
            .max_buf_size(READ_BYTES_MAX)
            // Whoever has said all it has to say still wants to hear the answer: it may have been charged.
            .half_close(true)
            .serve_connection(
                TokioIo::new(stream),
                service_of(self.router.clone(), carried, heads, self.place.clone()),
            );
        let mut serving = pin!(serving);
        let first_look = self.clock.moment().plus(self.limits.header_read_max.min(self.limits.body_read_max));
        let mut timer = pin!(self.clock.sleep_until(first_look));
        let mut draining = false;
        loop {
            tokio::select! {
                biased;
                // A client that breaks the protocol or goes away is its own affair; hyper has answered what it could.
                _ended = serving.as_mut() => return,
                () = self.stopping.cancelled(), if !draining => {
                    draining = true;
                    serving.as_mut().graceful_shutdown();
                    timer.set(self.clock.sleep_until(self.clock.moment().plus(self.limits.drain_max)));
                }
                () = timer.as_mut() => {
                    if draining {
                        return;
                    }
                    match patience.judge(&self.limits, self.clock.moment()) {
                        Verdict::Close => return,
                        Verdict::LookAgain(at) => timer.set(self.clock.sleep_until(at)),
                        Verdict::GiveUpOnBody(at) => {
                            patience.enter(Stage::Overdue);
                            timer.set(self.clock.sleep_until(at));
                        }
                    }
                }
            }
        }
    }
}

/// The router as hyper calls it, telling each request where it came from and the connection what it is doing.
fn service_of(
    router: Router,
    carried: Carried,
    heads: Arc<Mutex<RawHeads>>,
    place: Option<Arc<Place>>,
) -> impl Service<
    Request<Incoming>,
    Response = axum::response::Response,
    Error = std::convert::Infallible,
    Future: Send,
> {
    let router = TowerToHyperService::new(router);
    service_fn(move |mut request: Request<Incoming>| {
        carried.patience.enter(Stage::Serving);
        if let Some(place) = &place {
            place.establish();
        }
        request.extensions_mut().insert(carried.clone());
        let lengths = heads.lock().unwrap_or_else(PoisonError::into_inner).hand_on();
        let is_chunked = || request.headers().contains_key(TRANSFER_ENCODING);
        if lengths == Lengths::Two || (lengths == Lengths::Unknown && is_chunked()) {
            request.extensions_mut().insert(TwoLengths);
        }
        let patience = carried.patience.clone();
        let answer = router.call(request);
        async move {
            let answer = answer.await;
            patience.enter(Stage::Idle);
            answer
        }
    })
}
