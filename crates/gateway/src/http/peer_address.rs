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
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[track_caller]
    fn check(end: &str, forwarded: &[&str], expect: &str) {
        let networks = ["10.0.0.0/8", "2001:db8:f::/48", "127.0.0.1/32"];
        let proxies = TrustedProxies::new(networks.map(|network| network.parse().unwrap()));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let end = end.parse::<IpAddr>().unwrap().to_canonical();
        let actual = of(end, &proxies, &headers).map_or("unknown".to_owned(), |peer| peer.to_string());
        assert_eq!(actual, expect, "{end} {forwarded:?}");
    }

    #[test]
    fn client_without_a_trusted_proxy_is_the_peer() {
        check("192.0.2.7", &[], "192.0.2.7");
        check("192.0.2.7", &["198.51.100.1"], "192.0.2.7");
        check("192.0.2.7", &["10.0.0.1", "garbage"], "192.0.2.7");
        check("::ffff:192.0.2.7", &["198.51.100.1"], "192.0.2.7");
        check("127.0.0.2", &["198.51.100.1"], "127.0.0.2");
    }

    #[test]
    fn trusted_proxy_names_the_client() {
        check("10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("::ffff:10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("2001:db8:f::1", &["2001:db8::9"], "2001:db8::9");
        check("127.0.0.1", &["::ffff:198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1");
        check("10.0.0.1", &["[2001:db8::9]:4711"], "2001:db8::9");
        check("10.0.0.1", &[], "10.0.0.1");
    }

    #[test]
    fn right_most_untrusted_address_is_the_client() {
        check("10.0.0.1", &["203.0.113.5, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.5, 198.51.100.1, 10.0.0.2 ,\t10.0.0.3"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.5", "198.51.100.1", "10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["garbage, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["garbage", "198.51.100.1, 10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["10.0.0.9, 10.0.0.2"], "10.0.0.9");
    }

    #[test]
    fn unreadable_address_from_a_trusted_proxy_makes_the_client_unknown() {
        for odd in [
            "",
            ",",
            "garbage",
            "unknown",
            "198.51.100.1, garbage",
            "198.51.100.1,",
            "198.51.100.1, garbage, 10.0.0.2",
            "198.51.100.1;10.0.0.2",
            "198.51.100.256",
            "198.51.100.01",
            "198.51.100.1:99999",
            "_hidden",
            "\u{e4}",
            "for=198.51.100.1",
        ] {
            check("10.0.0.1", &[odd], "unknown");
        }
        check("10.0.0.1", &["198.51.100.1", ""], "unknown");
    }
}
