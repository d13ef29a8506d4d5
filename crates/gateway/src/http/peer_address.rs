//! Determines the client address: the peer of the connection or, behind a trusted proxy, the right-most address in
//! `X-Forwarded-For` that is not a trusted proxy. Addresses further left are set by the client and are ignored.
//!
//! `Forwarded`, `X-Real-IP` and similar headers are not read.

use crate::listeners::TrustedProxies;
use axum::http::{HeaderMap, HeaderName, header};
use std::net::{IpAddr, SocketAddr};

pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the client address. `None` if a trusted proxy sent an unreadable one: no allow-list admits it then.
pub(crate) fn of(end: IpAddr, proxies: &TrustedProxies, headers: &HeaderMap) -> Option<IpAddr> {
    if !proxies.trust(end) {
        return Some(end);
    }
    // Several headers are one list, in their order (RFC 9110 section 5.3).
    let mut nearest = end;
    for value in headers.get_all(&X_FORWARDED_FOR).iter().rev() {
        for entry in value.to_str().ok()?.rsplit(',') {
            nearest = address(entry.trim_matches([' ', '\t']))?;
            if !proxies.trust(nearest) {
                return Some(nearest);
            }
        }
    }
    // All are trusted: the request began at the left-most.
    Some(nearest)
}

/// Headers added by proxies.
const FORWARDING: [HeaderName; 6] = [
    X_FORWARDED_FOR,
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
    header::FORWARDED,
    header::VIA,
];

/// Whether a proxy forwarded the request, trusted or not. A client can pretend that, but cannot hide it.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(name))
}

/// Parses an address; some proxies append the port.
fn address(entry: &str) -> Option<IpAddr> {
    let bare = entry.parse::<IpAddr>().ok();
    let address = bare.or_else(|| entry.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
#[path = "peer_address_tests.rs"]
mod tests;
