//! Reads the API key and secret of a request: Basic, Bearer, or the headers X-API-Key and X-API-Secret. If
//! `Authorization` is present it alone counts, even if it is invalid.

use super::headers::{Occurrence, X_API_KEY, X_API_SECRET, single};
use crate::app::Credentials;
use crate::secrets::Secret;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The longest header value that is read. Our keys and secrets are far below a hundred characters.
const HEADER_BYTES_MAX: usize = 1024;

/// Some clients omit the base64 padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns `None` if the request has no credentials, or invalid ones.
pub(super) fn read(headers: &HeaderMap) -> Option<Credentials> {
    match single(headers, &header::AUTHORIZATION) {
        Occurrence::Once(value) => of_authorization(value),
        Occurrence::Absent => of_two_headers(headers),
        Occurrence::Repeated => None,
    }
}

fn of_authorization(value: &HeaderValue) -> Option<Credentials> {
    let (scheme, rest) = text(value)?.split_once(' ')?;
    let rest = rest.trim_start_matches(' ');
    if scheme.eq_ignore_ascii_case("basic") {
        let pair = String::from_utf8(BASE64.decode(rest).ok()?).ok()?;
        return of_pair(&pair);
    }
    if scheme.eq_ignore_ascii_case("bearer") {
        return of_pair(rest);
    }
    None
}

fn of_pair(pair: &str) -> Option<Credentials> {
    let (key, secret) = pair.split_once(':')?;
    Some(Credentials { key: key.to_owned(), secret: Secret::new(secret) })
}

fn of_two_headers(headers: &HeaderMap) -> Option<Credentials> {
    let only = |name: &HeaderName| match single(headers, name) {
        Occurrence::Once(value) => text(value),
        Occurrence::Absent | Occurrence::Repeated => None,
    };
    let (key, secret) = (only(&X_API_KEY)?, only(&X_API_SECRET)?);
    Some(Credentials { key: key.to_owned(), secret: Secret::new(secret) })
}

fn text(value: &HeaderValue) -> Option<&str> {
    if value.len() > HEADER_BYTES_MAX { None } else { value.to_str().ok() }
}

#[cfg(test)]
mod tests {
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
}
