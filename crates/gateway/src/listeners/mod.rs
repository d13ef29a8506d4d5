//! Shared by all customer-facing listeners: connection limits per address, trusted proxies, the TLS handshake, and
//! socket options.

mod connection_limits;
mod proxy_header;

pub(crate) use connection_limits::{AddressLimits, ConnectionLimits, ConnectionSlot};
pub(crate) use proxy_header::ProxiedClient;
use proxy_header::{ProxyHeaderError, read_proxy_header};

use crate::clock::Clock;
use crate::tls::Tls;
use ipnet::IpNet;
use metrics::{Gauge, counter};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// TCP user timeout: the kernel drops a peer that has not acknowledged data for this long.
const UNREAD_MAX: Duration = Duration::from_secs(30);

/// The pause after a failed accept, most likely for lack of file descriptors.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Proxies whose information about the client address is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> TrustedProxies {
        TrustedProxies(networks.into_iter().collect())
    }

    /// Whether the address is a trusted proxy. `address` must be canonical.
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Where a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The client, canonical: the peer, or the address from a trusted proxy.
    pub address: IpAddr,
    /// A proxy forwarded the request, trusted or not.
    pub is_forwarded: bool,
}

/// Which clients may use a page or an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Anywhere,
    /// Clients on this machine, and those at these addresses. Not through a proxy: it may have any client.
    Listed(Arc<[IpNet]>),
    /// Clients on this machine, not through a proxy, and by a name of this machine.
    ThisMachine,
}

impl Reach {
    /// Whether a request from `source` is allowed. An unknown source is not on this machine. `names_this_machine` says whether
    /// its `Host` is this machine's.
    pub fn admits(&self, source: Option<Source>, names_this_machine: bool) -> bool {
        let direct = source.filter(|source| !source.is_forwarded).map(|source| source.address);
        let is_near = names_this_machine && direct.is_some_and(|address| address.is_loopback());
        match self {
            Reach::Anywhere => true,
            Reach::ThisMachine => is_near,
            Reach::Listed(networks) => {
                let is_listed = |address| networks.iter().any(|network| network.contains(&address));
                is_near || direct.is_some_and(is_listed)
            }
        }
    }
}

/// Why a connection is closed before it is served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CloseCause {
    #[error("too many connections from its address")]
    AddressLimit,
    #[error(transparent)]
    Proxy(#[from] ProxyHeaderError),
    #[error("the PROXY header timed out")]
    LateHeader,
    #[error("the TLS handshake failed")]
    Handshake,
    #[error("the gateway is stopping")]
    Stopping,
}

/// Reads the PROXY header with which a connection from a load balancer begins.
pub(crate) async fn proxied_client(
    stream: &mut TcpStream,
    clock: &Clock,
    limit: Duration,
) -> Result<ProxiedClient, CloseCause> {
    tokio::select! {
        read = read_proxy_header(stream) => Ok(read?),
        () = clock.sleep(limit) => Err(CloseCause::LateHeader),
    }
}

/// Performs the TLS handshake within `limit`. Returns `None` if it failed or timed out; the outcome is counted.
pub(crate) async fn tls_handshake(
    tls: &Tls,
    stream: TcpStream,
    clock: &Clock,
    limit: Duration,
) -> Option<TlsStream<TcpStream>> {
    let outcome = tokio::select! {
        shaken = tls.acceptor().accept(stream) => shaken.map_err(|error| ("failed", error.to_string())),
        () = clock.sleep(limit) => Err(("late", "timed out".to_owned())),
    };
    let (stream, outcome) = match outcome {
        Ok(stream) => (Some(stream), "done"),
        Err((outcome, error)) => {
            tracing::debug!(error, "TLS handshake failed");
            (None, outcome)
        }
    };
    counter!("hermod_tls_handshakes_total", "outcome" => outcome).increment(1);
    stream
}

pub(crate) fn set_socket_options(stream: &TcpStream) {
    // The connection works without the options too.
    let _ = stream.set_nodelay(true);
    let unread_ms = u32::try_from(UNREAD_MAX.as_millis()).expect("half a minute fits");
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, unread_ms);
}

/// Counts one open connection until it is dropped.
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

/// Returns the address that limits are counted for: an IPv6 address counts as its /64, which one customer has as a
/// whole.
pub(crate) fn limit_key_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_ipv4_addresses_and_ipv6_64_networks() {
        for (address, site) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            assert_eq!(limit_key_of(address.parse().unwrap()).to_string(), site);
        }
    }
}
