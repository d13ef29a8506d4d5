//! Unit tests of `peer_address.rs`.

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
