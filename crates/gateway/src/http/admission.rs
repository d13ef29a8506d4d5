//! Admits new connections: reads the PROXY header of a load balancer and takes a slot of the client's address, both before
//! the first octet of TLS or HTTP.

use super::limits::HttpLimits;
use super::listener::HttpListener;
use crate::clock::Clock;
use crate::listeners::{
    AddressLimits, CloseCause, ConnectionLimits, ConnectionSlot, ProxiedClient, TrustedProxies, limit_key_of,
    proxied_client,
};
use metrics::counter;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::TcpStream;

/// The client of an admitted connection.
pub(super) struct AdmittedClient {
    /// Canonical: the peer of the TCP connection, or the address in the PROXY header.
    pub(super) address: IpAddr,
    /// The connection began with a PROXY header.
    pub(super) is_proxied: bool,
    /// None: a trusted proxy, which needs none.
    pub(super) slot: Option<Arc<ConnectionSlot>>,
}

/// Admits the connections of one listener.
#[derive(Clone)]
pub(super) struct Admission {
    proxies: Arc<TrustedProxies>,
    proxy_protocol_from: Arc<TrustedProxies>,
    connection_limits: ConnectionLimits,
    limits: HttpLimits,
    clock: Clock,
}

impl Admission {
    pub(super) fn new(listener: &HttpListener, limits: HttpLimits, clock: Clock) -> Admission {
        Admission {
            proxies: listener.proxies.clone(),
            proxy_protocol_from: listener.proxy_protocol_from.clone(),
            connection_limits: ConnectionLimits::default(),
            limits,
            clock,
        }
    }

    /// Returns the client behind `peer`. `None`: the connection is to be closed; the reason is counted.
    pub(super) async fn admit(&self, stream: &mut TcpStream, peer: IpAddr) -> Option<AdmittedClient> {
        let cause = match self.client_of(stream, peer).await {
            Ok(client) => return Some(client),
            Err(cause) => cause,
        };
        let counter = match cause {
            CloseCause::AddressLimit => counter!("hermod_http_address_limited_total"),
            CloseCause::Proxy(_) | CloseCause::LateHeader | CloseCause::Handshake | CloseCause::Stopping => {
                counter!("hermod_http_proxy_header_errors_total")
            }
        };
        counter.increment(1);
        tracing::debug!(%peer, "Closed an HTTP connection: {cause}");
        None
    }

    async fn client_of(&self, stream: &mut TcpStream, peer: IpAddr) -> Result<AdmittedClient, CloseCause> {
        if !self.proxy_protocol_from.trust(peer) {
            return Ok(AdmittedClient { address: peer, is_proxied: false, slot: self.take_slot(peer)? });
        }
        // Boxed, so that a direct connection does not reserve the memory of this future.
        let caller = Box::pin(proxied_client(stream, &self.clock, self.limits.handshake_max));
        Ok(match caller.await? {
            // A health check: the load balancer is the client.
            ProxiedClient::Itself => AdmittedClient { address: peer, is_proxied: true, slot: None },
            ProxiedClient::Behind { address, tls: _ } => {
                AdmittedClient { address, is_proxied: true, slot: self.take_slot(address)? }
            }
        })
    }

    /// Takes a slot for the address. A trusted proxy needs none.
    fn take_slot(&self, address: IpAddr) -> Result<Option<Arc<ConnectionSlot>>, CloseCause> {
        if self.proxies.trust(address) {
            return Ok(None);
        }
        let HttpLimits { per_address_max: open_max, half_open_max, .. } = self.limits;
        let limits = AddressLimits { open_max, half_open_max };
        let slot = self.connection_limits.enter(limit_key_of(address), limits);
        slot.map(|slot| Some(Arc::new(slot))).ok_or(CloseCause::AddressLimit)
    }
}
