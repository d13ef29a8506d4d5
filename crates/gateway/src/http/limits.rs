//! What a connection may take of the HTTP server.

use crate::config;
use std::time::Duration;

/// What a connection may take. Every limit is one an operator can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; further ones wait in the listener's backlog.
    pub connections_max: u32,
    /// Of one address, unless it is a trusted proxy's, which carries many callers; further ones are cut off.
    pub per_address_max: u32,
    /// Of those, connections on which no whole request has come yet.
    pub half_open_max: u32,
    /// From accept to the end of the TLS handshake.
    pub handshake_max: Duration,
    /// From the first byte of a request to the end of its head, and from accept to that first byte.
    pub header_read_max: Duration,
    pub body_read_max: Duration,
    /// Between two requests.
    pub idle_max: Duration,
    /// How long requests in flight may take to finish once the gateway stops.
    pub drain_max: Duration,
}

impl Limits {
    pub fn of(http: &config::Http, https: &config::Https) -> Limits {
        Limits {
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

    /// With so many connections at most.
    #[must_use]
    pub fn capped(self, connections_max: u32) -> Limits {
        Limits { connections_max: self.connections_max.min(connections_max), ..self }
    }
}
