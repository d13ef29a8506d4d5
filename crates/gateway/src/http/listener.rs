//! How connections come in: over TLS or readable on the way, and whose word on the caller's address is taken.

use crate::arrivals::TrustedProxies;
use crate::tls::Tls;
use metrics::counter;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// One listener and what holds for everyone who comes in there.
pub struct Entrance {
    pub listener: TcpListener,
    pub security: Security,
    pub proxies: Arc<TrustedProxies>,
}

/// What stands between a caller's secret and the wire.
#[derive(Clone)]
pub enum Security {
    Tls(Arc<Tls>),
    /// Readable on the way, so only for callers on this machine and for the trusted proxies.
    PlainNearby,
    /// Readable on the way, and the operator said that this is fine.
    PlainForAll,
}

impl Entrance {
    /// Whether a connection from there is taken at all.
    pub(super) fn admits(&self, address: IpAddr) -> bool {
        let admitted = match self.security {
            Security::Tls(_) | Security::PlainForAll => true,
            Security::PlainNearby => address.is_loopback() || self.proxies.trust(address),
        };
        if !admitted {
            counter!("hermod_http_plain_refused_total").increment(1);
            tracing::debug!(peer = %address, "Cut off a plain connection that no trusted proxy stands behind");
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn plain_connections_come_from_nearby_unless_the_operator_says_otherwise() {
        let mut entrance = Entrance {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            security: Security::PlainNearby,
            proxies: Arc::new(TrustedProxies::new(["10.0.0.0/8".parse().unwrap()])),
        };
        let cases = [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("10.1.2.3", true)];
        let far = [("11.0.0.1", false), ("192.168.0.1", false), ("2001:db8::1", false)];
        for (address, admitted) in cases.into_iter().chain(far) {
            assert_eq!(entrance.admits(address.parse().unwrap()), admitted, "{address}");
        }
        entrance.security = Security::PlainForAll;
        assert!(far.iter().all(|(address, _)| entrance.admits(address.parse().unwrap())));
    }
}
