//! What every listener for customers needs: how many connections one address may hold, which proxies are believed, the
//! handshake of TLS, and the options of a socket.

mod connection_limits;
mod proxy_header;

pub(crate) use connection_limits::{Crowd, PerAddress, Place};
pub(crate) use proxy_header::{Caller, ProxyHeaderError, read_proxy_header};

use crate::clock::Clock;
use crate::tls::Tls;
use ipnet::IpNet;
use metrics::{Gauge, counter};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A peer that has not acknowledged what we sent for this long is gone, or will not read: the kernel gives up on it.
const UNREAD_MAX: Duration = Duration::from_secs(30);

/// How long to wait when no connection can be accepted: out of descriptors, most likely.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Proxies that are believed when they say for whom they call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> TrustedProxies {
        TrustedProxies(networks.into_iter().collect())
    }

    /// `address` is canonical: no v4 address dressed up as v6.
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The caller, canonical: the peer, or the address that a trusted proxy named.
    pub address: IpAddr,
    /// A proxy carried the request, trusted or not.
    pub is_forwarded: bool,
}

/// From where a page or an API may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Anywhere,
    /// Direct callers on this machine. What a proxy on this machine forwards is somebody else's request.
    ThisMachine,
}

impl Reach {
    /// A caller that is not known is not on this machine.
    pub(crate) fn admits(self, source: Option<Source>) -> bool {
        match self {
            Reach::Anywhere => true,
            Reach::ThisMachine => {
                source.is_some_and(|source| source.address.is_loopback() && !source.is_forwarded)
            }
        }
    }
}

/// Shakes hands within a limit. `None` means that the connection is over: what it did is counted, and nobody else's
/// affair.
pub(crate) async fn shake_hands(
    tls: &Tls,
    stream: TcpStream,
    clock: &Clock,
    limit: Duration,
) -> Option<TlsStream<TcpStream>> {
    let outcome = tokio::select! {
        shaken = tls.acceptor().accept(stream) => shaken.map_err(|error| ("failed", error.to_string())),
        () = clock.sleep(limit) => Err(("late", "it took too long".to_owned())),
    };
    let (stream, outcome) = match outcome {
        Ok(stream) => (Some(stream), "done"),
        Err((outcome, error)) => {
            tracing::debug!(error, "A TLS handshake came to nothing");
            (None, outcome)
        }
    };
    counter!("hermod_tls_handshakes_total", "outcome" => outcome).increment(1);
    stream
}

pub(crate) fn set_options(stream: &TcpStream) {
    // A stream that refuses an option still serves, only slower or longer.
    let _ = stream.set_nodelay(true);
    let unread_ms = u32::try_from(UNREAD_MAX.as_millis()).expect("half a minute fits");
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, unread_ms);
}

/// Counts one open connection for as long as it lives.
pub(crate) struct Counted(Gauge);

impl Counted {
    pub(crate) fn new(gauge: Gauge) -> Counted {
        gauge.increment(1.0);
        Counted(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// A v6 address stands for its /64: one customer has all of it, and could fail from another one each time.
pub(crate) fn site_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}
