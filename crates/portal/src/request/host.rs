//! The host that a request names. Where the settings say at which address the pages are, requests for other hosts get none: a name
//! that an attacker makes lead here would be an origin of its own.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};

/// Returns the host of a URL, with its port unless it is the usual one, in lower case.
pub(crate) fn of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    without_usual_port(rest.split('/').next().unwrap_or_default())
}

/// Whether a request is for this host.
pub(crate) fn is_for(host: &str, head: &Parts) -> bool {
    named(&head.uri, &head.headers).is_some_and(|named| without_usual_port(named) == host)
}

/// Returns the host that a request names: in its address (HTTP/2), or in the header.
fn named<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let of_uri = uri.authority().map(axum::http::uri::Authority::as_str);
    of_uri.or_else(|| headers.get(header::HOST).and_then(|value| value.to_str().ok()))
}

fn without_usual_port(authority: &str) -> String {
    let usual = authority.strip_suffix(":443").or_else(|| authority.strip_suffix(":80"));
    usual.unwrap_or(authority).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    #[test]
    fn only_the_host_of_the_url_is_accepted() {
        let is_for = |url: &str, given: &str| {
            let (head, ()) = Request::builder().uri("/").header("host", given).body(()).unwrap().into_parts();
            super::is_for(&of_url(url), &head)
        };
        for (url, given, expect) in [
            ("https://sms.example.com", "sms.example.com", true),
            ("https://sms.example.com", "SMS.Example.com:443", true),
            ("https://sms.example.com/", "sms.example.com", true),
            ("https://sms.example.com:8443", "sms.example.com:8443", true),
            ("https://sms.example.com:8443", "sms.example.com", false),
            ("https://sms.example.com", "evil.example", false),
            ("https://sms.example.com", "sms.example.com.evil.example", false),
            ("https://sms.example.com", "127.0.0.1:8080", false),
        ] {
            assert_eq!(is_for(url, given), expect, "{url} {given}");
        }
        let (head, ()) = Request::builder().uri("/").body(()).unwrap().into_parts();
        assert!(!super::is_for("sms.example.com", &head), "no host at all");
    }
}
