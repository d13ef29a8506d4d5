//! Unit tests of `extract.rs`.

use super::*;
use axum::http::HeaderValue;

#[test]
fn form_of_another_origin_is_refused() {
    let headers = |origin: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("sms.example:8080"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        headers
    };
    assert!(is_own_origin(&headers(Some("https://sms.example:8080"))));
    assert!(is_own_origin(&headers(Some("http://sms.example:8080"))));
    for other in
        ["https://evil.example", "https://sms.example", "null", "https://sms.example:8080.evil.example"]
    {
        assert!(!is_own_origin(&headers(Some(other))), "{other}");
    }
    assert!(!is_own_origin(&headers(None)));
}
