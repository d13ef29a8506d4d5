//! Unit tests of `credentials.rs`.

use super::*;

#[track_caller]
fn check(headers: &[(&'static str, &str)], expect: Option<(&str, &str)>) {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_str(value).unwrap());
    }
    let read = read(&map);
    let pair = read.as_ref().map(|found| (found.key.as_str(), found.secret.reveal()));
    assert_eq!(pair, expect, "{headers:?}");
}

#[test]
fn basic_bearer_and_two_headers_are_equivalent() {
    let expect = Some(("key", "secret"));
    check(&[("authorization", "Basic a2V5OnNlY3JldA==")], expect);
    check(&[("authorization", "basic   a2V5OnNlY3JldA")], expect);
    check(&[("authorization", "Bearer key:secret")], expect);
    check(&[("authorization", "BEARER key:secret")], expect);
    check(&[("x-api-key", "key"), ("x-api-secret", "secret")], expect);
}

#[test]
fn key_and_secret_are_split_at_the_first_colon() {
    check(&[("authorization", "Bearer key:se:cret")], Some(("key", "se:cret")));
    check(&[("authorization", "Bearer :secret")], Some(("", "secret")));
    check(&[("authorization", "Bearer key")], None);
    check(&[("authorization", "Basic a2V5")], None);
}

#[test]
fn invalid_authorization_does_not_fall_back_to_the_two_headers() {
    let two = [("x-api-key", "key"), ("x-api-secret", "secret")];
    for bad in ["", "Basic", "Basic !!!!", "Digest a2V5OnNlY3JldA==", "Bearer", "Basic /w=="] {
        check(&[("authorization", bad), two[0], two[1]], None);
    }
    check(&[("authorization", "Bearer a:b"), two[0], two[1]], Some(("a", "b")));
}

#[test]
fn repeated_or_incomplete_headers_are_no_credentials() {
    check(&[], None);
    check(&[("x-api-key", "key")], None);
    check(&[("x-api-secret", "secret")], None);
    check(&[("authorization", "Bearer a:b"), ("authorization", "Bearer a:b")], None);
    check(&[("x-api-key", "k"), ("x-api-key", "k"), ("x-api-secret", "s")], None);
    check(&[("authorization", &format!("Bearer key:{}", "s".repeat(HEADER_BYTES_MAX)))], None);
}
