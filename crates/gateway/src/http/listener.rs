//! An HTTP listener: TLS or plain, and its trusted proxies.

use crate::listeners::TrustedProxies;
use crate::tls::Tls;
use metrics::counter;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// One listener and its settings.
pub struct HttpListener {
    pub socket: TcpListener,
    pub security: Security,
    /// Proxies whose `X-Forwarded-For` is used.
    pub proxies: Arc<TrustedProxies>,
    /// Load balancers whose connections begin with a PROXY header.
    pub proxy_protocol_from: Arc<TrustedProxies>,
}

/// The transport security of a listener.
#[derive(Clone)]
pub enum Security {
    Tls(Arc<Tls>),
    /// Plain HTTP, only from this machine and from trusted proxies.
    PlainNearby,
    /// Plain HTTP from anywhere, allowed by the operator.
    PlainForAll,
}

impl HttpListener {
    /// Whether a connection from this address is accepted.
    pub(super) fn admits(&self, address: IpAddr) -> bool {
        let admitted = match self.security {
            Security::Tls(_) | Security::PlainForAll => true,
            Security::PlainNearby => {
                address.is_loopback()
                    || self.proxies.trust(address)
                    || self.proxy_protocol_from.trust(address)
            }
        };
        if !admitted {
            counter!("hermod_http_plain_refused_total").increment(1);
            tracing::debug!(peer = %address, "Closed a plain connection from an untrusted address");
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn plain_connection_from_another_machine_needs_permission_or_a_trusted_proxy() {
        let mut listener = HttpListener {
            socket: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            security: Security::PlainNearby,
            proxies: Arc::new(TrustedProxies::new(["10.0.0.0/8".parse().unwrap()])),
            proxy_protocol_from: Arc::new(TrustedProxies::new(["12.0.0.1/32".parse().unwrap()])),
        };
        let cases =
            [("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("10.1.2.3", true), ("12.0.0.1", true)];
        let far = [("11.0.0.1", false), ("12.0.0.2", false), ("192.168.0.1", false), ("2001:db8::1", false)];
        for (address, admitted) in cases.into_iter().chain(far) {
            assert_eq!(listener.admits(address.parse().unwrap()), admitted, "{address}");
        }
        listener.security = Security::PlainForAll;
        assert!(far.iter().all(|(address, _)| listener.admits(address.parse().unwrap())));
    }
}
