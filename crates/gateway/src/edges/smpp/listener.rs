//! Accepts customers' SMPP connections: connection limits, the PROXY header of a trusted proxy, and the TLS handshake,
//! all before the first PDU. Every step has a limit and a timeout, because the peer is not authenticated yet.

use super::settings::SmppSettings;
use crate::clock::Clock;
use crate::listeners::limit_key_of;
use crate::listeners::{
    ACCEPT_PAUSE, CloseCause, ConnectionSlot, Counted, ProxiedClient, proxied_client, set_socket_options,
    tls_handshake,
};
use crate::stream::Stream;
use crate::tls::Tls;
use crate::workers::Workers;
use metrics::{counter, gauge};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// When the gateway stops, up to this many sessions unbind at once; more unbind one after the other, so that not all
/// customers reconnect in the same second.
const UNBIND_AT_ONCE_MAX: u32 = 20;
/// The time between two unbinds, and for all of them.
const UNBIND_EVERY: Duration = Duration::from_millis(5);
const UNBIND_WITHIN: Duration = Duration::from_secs(5);

/// One listener.
pub struct SmppListener {
    pub socket: TcpListener,
    /// `None`: plain TCP.
    pub tls: Option<Arc<Tls>>,
}

/// The peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Canonical: an IPv4 address is never written as IPv6.
    pub address: IpAddr,
    /// The peer uses TLS, to us or to a trusted proxy.
    pub tls: bool,
}

/// Tells a session to end.
#[derive(Clone)]
pub(super) struct Stops {
    /// It is to unbind, once the client has responded to what it was sent.
    pub(super) leave: CancellationToken,
    /// It is to unbind now.
    pub(super) at_once: CancellationToken,
}

/// Accepts connections until `workers` leave, and runs `session` for each. `session` must end soon after its tokens are
/// cancelled, and establish its slot once it is bound.
pub(super) async fn serve<S, F>(
    listener: SmppListener,
    clock: Clock,
    settings: Arc<SmppSettings>,
    workers: Workers,
    session: S,
) where
    S: Fn(Stream, Peer, Arc<ConnectionSlot>, Stops) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (leaving, stopping) = (workers.leaving(), workers.stopping());
    let mut number = 0_u32;
    while let Some((stream, address, permit)) = next_connection(&listener, &settings, &leaving, &clock).await
    {
        number = number.wrapping_add(1);
        let connection = AcceptedConnection {
            number,
            address,
            tls: listener.tls.clone(),
            clock: clock.clone(),
            settings: settings.clone(),
            // Child tokens: all connections would share the parent's lock at every wake-up.
            leaving: leaving.child_token(),
            stopping: stopping.child_token(),
            _counted: Counted::new(gauge!("hermod_smpp_connections")),
            _open: Open::new(settings.open.clone()),
            _permit: permit,
        };
        workers.spawn_named("smpp/session", connection.run(stream, session.clone()));
    }
}

/// Accepts the next connection. Returns `None` once the gateway leaves.
async fn next_connection(
    listener: &SmppListener,
    settings: &SmppSettings,
    leaving: &CancellationToken,
    clock: &Clock,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let accept = async {
        let permit = settings.room.clone().acquire_owned().await.expect("the semaphore is never closed");
        loop {
            match listener.socket.accept().await {
                Ok((stream, peer)) => return (stream, peer.ip().to_canonical(), permit),
                Err(error) => {
                    tracing::warn!(%error, "Could not accept an SMPP connection");
                    clock.sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = leaving.cancelled() => None,
        accepted = accept => Some(accepted),
    }
}

/// An accepted connection.
struct AcceptedConnection {
    number: u32,
    /// The peer address of the TCP connection.
    address: IpAddr,
    tls: Option<Arc<Tls>>,
    clock: Clock,
    settings: Arc<SmppSettings>,
    leaving: CancellationToken,
    stopping: CancellationToken,
    _counted: Counted,
    _open: Open,
    _permit: OwnedSemaphorePermit,
}

/// Returns the reason in metrics.
fn label(cause: &CloseCause) -> &'static str {
    match cause {
        CloseCause::AddressLimit => "address-limit",
        CloseCause::Proxy(_) | CloseCause::LateHeader => "proxy-header",
        CloseCause::Handshake => "handshake",
        CloseCause::Stopping => "stopping",
    }
}

impl AcceptedConnection {
    async fn run<S, F>(self, stream: TcpStream, session: S)
    where
        S: Fn(Stream, Peer, Arc<ConnectionSlot>, Stops) -> F,
        F: Future<Output = ()>,
    {
        set_socket_options(&stream);
        // Boxed, so that an idle session does not keep the memory of this future.
        let prepared = Box::pin(async {
            tokio::select! {
                biased;
                () = self.leaving.cancelled() => Err(CloseCause::Stopping),
                prepared = self.prepare(stream) => prepared,
            }
        });
        let (stream, peer, place) = match prepared.await {
            Ok(prepared) => prepared,
            Err(cut) => {
                counter!("hermod_smpp_cut_off_total", "reason" => label(&cut)).increment(1);
                tracing::debug!(peer = %self.address, "Closed an SMPP connection: {cut}");
                return;
            }
        };
        let leave = CancellationToken::new();
        let stops = Stops { leave: leave.clone(), at_once: self.stopping.clone() };
        let mut session = pin!(session(stream, peer, Arc::new(place), stops));
        tokio::select! {
            biased;
            () = session.as_mut() => return,
            () = self.unbind_turn() => {}
        }
        leave.cancel();
        session.await;
    }

    /// Reads the PROXY header, checks the connection limits and performs the TLS handshake.
    async fn prepare(&self, mut stream: TcpStream) -> Result<(Stream, Peer, ConnectionSlot), CloseCause> {
        let mut peer = Peer { address: self.address, tls: self.tls.is_some() };
        if self.settings.proxies.trust(self.address) {
            let caller = proxied_client(&mut stream, &self.clock, self.settings.handshake_max).await?;
            if let ProxiedClient::Behind { address, tls } = caller {
                peer = Peer { address, tls: peer.tls || tls };
            }
        }
        let place =
            self.settings.connection_limits.enter(limit_key_of(peer.address), self.settings.per_address);
        let place = place.ok_or(CloseCause::AddressLimit)?;
        let stream = match &self.tls {
            None => Stream::plain(stream),
            Some(tls) => {
                let shaken = tls_handshake(tls, stream, &self.clock, self.settings.handshake_max).await;
                Stream::tls(shaken.ok_or(CloseCause::Handshake)?)
            }
        };
        Ok((stream, peer, place))
    }

    async fn unbind_turn(&self) {
        self.leaving.cancelled().await;
        let wait = unbind_delay(self.number, self.settings.open.load(Ordering::Relaxed));
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
    }
}

/// Returns how long after the stop session `number` of `open` sessions unbinds.
fn unbind_delay(number: u32, open: u32) -> Duration {
    if open <= UNBIND_AT_ONCE_MAX {
        return Duration::ZERO;
    }
    let within = UNBIND_EVERY.saturating_mul(open).min(UNBIND_WITHIN);
    within * (number % open) / open
}

/// Counts one open connection until it is dropped.
struct Open(Arc<AtomicU32>);

impl Open {
    fn new(count: Arc<AtomicU32>) -> Open {
        count.fetch_add(1, Ordering::Relaxed);
        Open(count)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
