//! Unit tests of `http/mod.rs`.

use super::*;
use axum::http::HeaderValue;

#[test]
fn only_loopback_addresses_and_localhost_name_this_machine() {
    let check = |uri: &str, hosts: &[&str]| {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        names_this_machine(&uri.parse().unwrap(), &headers)
    };
    for host in ["localhost", "LocalHost:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "[::1]"] {
        assert!(check("/metrics", &[host]), "{host}");
        assert!(check(&format!("http://{host}/metrics"), &[]), "{host}");
    }
    for host in ["", "evil.example", "localhost.evil.example", "192.0.2.7:8080", "0.0.0.0", "a b", "u@evil"] {
        assert!(!check("/metrics", &[host]), "{host}");
        assert!(!check("http://localhost/metrics", &[host]), "{host}");
    }
    assert!(!check("/metrics", &["localhost", "evil.example"]));
    assert!(!check("http://evil.example/metrics", &["localhost"]));
    assert!(check("/metrics", &[]));
}
