//! How customers' connections come in, and what happens before the first PDU: so many at a time, a proxy's word about who
//! is behind it, the handshake of TLS. All of it has a limit and a deadline, because nobody has proven anything yet.

use super::settings::Settings;
use crate::arrivals::site_of;
use crate::arrivals::{
    ACCEPT_PAUSE, Caller, Counted, Place, ProxyHeaderError, read_proxy_header, set_options, shake_hands,
};
use crate::clock::Clock;
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

/// When the gateway stops, this many sessions may be told at the same moment; more are told one after the other, so that
/// their customers do not all come back in one second.
const TOLD_AT_ONCE_MAX: u32 = 20;
/// Between two of them, and how long all of it may take.
const TOLD_EVERY: Duration = Duration::from_millis(5);
const TOLD_WITHIN: Duration = Duration::from_secs(5);

/// One listener.
pub struct Entrance {
    pub listener: TcpListener,
    /// Nothing: readable on the way.
    pub tls: Option<Arc<Tls>>,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Canonical: no v4 address dressed up as v6.
    pub address: IpAddr,
    /// Nobody could read along between there and us, or and a proxy that we believe.
    pub tls: bool,
}

/// Serves until `workers` stop: every connection that gets this far is handed to `session`, which should end soon after
/// its token is cancelled, and establishes its place once it is bound.
pub(super) async fn serve<S, F>(
    entrance: Entrance,
    clock: Clock,
    settings: Arc<Settings>,
    workers: Workers,
    session: S,
) where
    S: Fn(Stream, Peer, Arc<Place>, CancellationToken) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let stopping = workers.stopping();
    let mut number = 0_u32;
    while let Some((stream, address, permit)) = next_connection(&entrance, &settings, &stopping, &clock).await
    {
        number = number.wrapping_add(1);
        let arrival = Arrival {
            number,
            address,
            tls: entrance.tls.clone(),
            clock: clock.clone(),
            settings: settings.clone(),
            // Its own child: the parent's lock would be shared by every connection at every wake-up.
            stopping: stopping.child_token(),
            _counted: Counted::new(gauge!("hermod_smpp_connections")),
            _open: Open::new(settings.open.clone()),
            _permit: permit,
        };
        workers.spawn_named("smpp/session", arrival.carry(stream, session.clone()));
    }
}

/// `None` once the gateway stops.
async fn next_connection(
    entrance: &Entrance,
    settings: &Settings,
    stopping: &CancellationToken,
    clock: &Clock,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let accept = async {
        let permit = settings.room.clone().acquire_owned().await.expect("nobody closes the semaphore");
        loop {
            match entrance.listener.accept().await {
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
        () = stopping.cancelled() => None,
        accepted = accept => Some(accepted),
    }
}

/// A connection that has been accepted, for as long as it lasts.
struct Arrival {
    number: u32,
    /// The other end of the TCP connection.
    address: IpAddr,
    tls: Option<Arc<Tls>>,
    clock: Clock,
    settings: Arc<Settings>,
    stopping: CancellationToken,
    _counted: Counted,
    _open: Open,
    _permit: OwnedSemaphorePermit,
}

/// Why a connection is over before its session.
#[derive(Debug, thiserror::Error)]
enum Cut {
    #[error("its address holds as many as it may")]
    Crowded,
    #[error(transparent)]
    Proxy(#[from] ProxyHeaderError),
    #[error("the PROXY header took too long")]
    LateHeader,
    #[error("the handshake came to nothing")]
    Handshake,
    #[error("the gateway stops")]
    Stopping,
}

impl Cut {
    fn label(&self) -> &'static str {
        match self {
            Cut::Crowded => "crowded",
            Cut::Proxy(_) | Cut::LateHeader => "proxy-header",
            Cut::Handshake => "handshake",
            Cut::Stopping => "stopping",
        }
    }
}

impl Arrival {
    async fn carry<S, F>(self, stream: TcpStream, session: S)
    where
        S: Fn(Stream, Peer, Arc<Place>, CancellationToken) -> F,
        F: Future<Output = ()>,
    {
        set_options(&stream);
        // In a box of its own: an idle session should not keep memory for what only its beginning needed.
        let arrived = Box::pin(async {
            tokio::select! {
                biased;
                () = self.stopping.cancelled() => Err(Cut::Stopping),
                arrived = self.arrive(stream) => arrived,
            }
        });
        let (stream, peer, place) = match arrived.await {
            Ok(arrived) => arrived,
            Err(cut) => {
                counter!("hermod_smpp_cut_off_total", "reason" => cut.label()).increment(1);
                tracing::debug!(peer = %self.address, "Cut off an SMPP connection: {cut}");
                return;
            }
        };
        let told = CancellationToken::new();
        let mut session = pin!(session(stream, peer, Arc::new(place), told.clone()));
        tokio::select! {
            biased;
            () = session.as_mut() => return,
            () = self.told_to_stop() => {}
        }
        told.cancel();
        session.await;
    }

    /// Who is there, behind a proxy and behind TLS.
    async fn arrive(&self, mut stream: TcpStream) -> Result<(Stream, Peer, Place), Cut> {
        let mut peer = Peer { address: self.address, tls: self.tls.is_some() };
        if self.settings.proxies.trust(self.address) {
            let caller = tokio::select! {
                read = read_proxy_header(&mut stream) => read?,
                () = self.clock.sleep(self.settings.handshake_max) => return Err(Cut::LateHeader),
            };
            if let Caller::Behind { address, tls } = caller {
                peer = Peer { address, tls: peer.tls || tls };
            }
        }
        let place = self.settings.crowd.enter(site_of(peer.address), self.settings.per_address);
        let place = place.ok_or(Cut::Crowded)?;
        let stream = match &self.tls {
            None => Stream::plain(stream),
            Some(tls) => {
                let shaken = shake_hands(tls, stream, &self.clock, self.settings.handshake_max).await;
                Stream::tls(shaken.ok_or(Cut::Handshake)?)
            }
        };
        Ok((stream, peer, place))
    }

    async fn told_to_stop(&self) {
        self.stopping.cancelled().await;
        let wait = told_after(self.number, self.settings.open.load(Ordering::Relaxed));
        if !wait.is_zero() {
            self.clock.sleep(wait).await;
        }
    }
}

/// How long after the stop a session is told, of so many that are open.
fn told_after(number: u32, open: u32) -> Duration {
    if open <= TOLD_AT_ONCE_MAX {
        return Duration::ZERO;
    }
    let within = TOLD_EVERY.saturating_mul(open).min(TOLD_WITHIN);
    within * (number % open) / open
}

/// One connection among those that are open.
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
