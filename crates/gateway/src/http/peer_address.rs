//! Who is calling: the other end of the connection or, where that is a trusted proxy, the right-most address it reports
//! that is no trusted proxy itself. Everything further left was written by whoever that is, and means nothing.
//!
//! `X-Forwarded-For` is the only header that is read; `Forwarded`, `X-Real-IP` and their like are not.

use crate::arrivals::TrustedProxies;
use axum::http::{HeaderMap, HeaderName, header};
use std::net::{IpAddr, SocketAddr};

pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address behind a connection's end. A trusted proxy that reports something unreadable leaves it `None`: a list
/// of addresses then admits nobody.
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
    // All of them are trusted: the call began at the furthest.
    Some(nearest)
}

/// Headers that proxies add.
const FORWARDING: [HeaderName; 6] = [
    X_FORWARDED_FOR,
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
    header::FORWARDED,
    header::VIA,
];

/// Whether a proxy carried the request, trusted or not. Callers can claim that; they cannot deny it for their proxy.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(name))
}

/// An address, which some proxies write with its port.
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
        let told = of(end, &proxies, &headers).map_or("unknown".to_owned(), |peer| peer.to_string());
        assert_eq!(told, expect, "{end} {forwarded:?}");
    }

    #[test]
    fn a_caller_without_a_trusted_proxy_is_the_end_of_its_connection() {
        check("192.0.2.7", &[], "192.0.2.7");
        check("192.0.2.7", &["198.51.100.1"], "192.0.2.7");
        check("192.0.2.7", &["10.0.0.1", "garbage"], "192.0.2.7");
        check("::ffff:192.0.2.7", &["198.51.100.1"], "192.0.2.7");
        check("127.0.0.2", &["198.51.100.1"], "127.0.0.2");
    }

    #[test]
    fn a_trusted_proxy_names_the_caller() {
        check("10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("::ffff:10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("2001:db8:f::1", &["2001:db8::9"], "2001:db8::9");
        check("127.0.0.1", &["::ffff:198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1");
        check("10.0.0.1", &["[2001:db8::9]:4711"], "2001:db8::9");
        check("10.0.0.1", &[], "10.0.0.1");
    }

    #[test]
    fn only_the_right_most_address_that_is_not_trusted_counts() {
        check("10.0.0.1", &["203.0.113.5, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.5, 198.51.100.1, 10.0.0.2 ,\t10.0.0.3"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.5", "198.51.100.1", "10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["garbage, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["garbage", "198.51.100.1, 10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["10.0.0.9, 10.0.0.2"], "10.0.0.9");
    }

    #[test]
    fn what_a_trusted_proxy_says_unreadably_makes_the_caller_unknown() {
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
