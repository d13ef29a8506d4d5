//! The limits of an HTTP server's connections.

use crate::config;
use std::time::Duration;

/// How long a connection is read once more before it is closed, in real time: until the runtime has learnt of all that had arrived.
pub(super) const LAST_READ: Duration = Duration::from_millis(50);

/// Limits from the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Concurrent connections; further ones wait in the backlog.
    pub connections_max: u32,
    /// Connections per address, except of trusted proxies; further ones are closed.
    pub per_address_max: u32,
    /// Connections per address without a complete request.
    pub half_open_max: u32,
    /// For the PROXY header, and for the TLS handshake.
    pub handshake_max: Duration,
    /// From the first byte of a request to the end of its head, and from accept to that first byte.
    pub header_read_max: Duration,
    pub body_read_max: Duration,
    /// Between two requests.
    pub idle_max: Duration,
    /// How long requests in progress may take once the gateway stops.
    pub drain_max: Duration,
}

impl HttpLimits {
    pub fn of(http: &config::HttpSection, https: &config::HttpsSection) -> HttpLimits {
        HttpLimits {
            connections_max: http.max_connections,
            per_address_max: http.max_connections_per_address,
            half_open_max: http.max_half_open_per_address,
            handshake_max: https.handshake_timeout.into(),
            header_read_max: http.head_timeout.into(),
            body_read_max: http.body_timeout.into(),
            idle_max: http.idle_timeout.into(),
            drain_max: http.drain_timeout.into(),
        }
    }

    /// Returns the limits with at most this many connections.
    #[must_use]
    pub fn capped(self, connections_max: u32) -> HttpLimits {
        HttpLimits { connections_max: self.connections_max.min(connections_max), ..self }
    }
}
