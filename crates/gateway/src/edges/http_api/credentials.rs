//! Reads an API key and its secret out of a request: Basic, Bearer or two headers of their own. `Authorization` decides
//! if it is there; there is no falling through from a bad one to the two headers.

use super::headers::{Occurrence, X_API_KEY, X_API_SECRET, single};
use crate::app::Credentials;
use crate::secrets::Secret;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Longest header value that is looked at. Keys and secrets of ours have well below a hundred characters.
const HEADER_BYTES_MAX: usize = 1024;

/// Some clients leave the padding of base64 off, and nothing is ambiguous without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `None` if the request has no credentials, or none that can be read.
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
    fn the_three_forms_are_equal() {
        let expect = Some(("key", "secret"));
        check(&[("authorization", "Basic a2V5OnNlY3JldA==")], expect);
        check(&[("authorization", "basic   a2V5OnNlY3JldA")], expect);
        check(&[("authorization", "Bearer key:secret")], expect);
        check(&[("authorization", "BEARER key:secret")], expect);
        check(&[("x-api-key", "key"), ("x-api-secret", "secret")], expect);
    }

    #[test]
    fn key_and_secret_part_at_the_first_colon() {
        check(&[("authorization", "Bearer key:se:cret")], Some(("key", "se:cret")));
        check(&[("authorization", "Bearer :secret")], Some(("", "secret")));
        check(&[("authorization", "Bearer key")], None);
        check(&[("authorization", "Basic a2V5")], None);
    }

    #[test]
    fn authorization_decides_if_it_is_there() {
        let two = [("x-api-key", "key"), ("x-api-secret", "secret")];
        for bad in ["", "Basic", "Basic !!!!", "Digest a2V5OnNlY3JldA==", "Bearer", "Basic /w=="] {
            check(&[("authorization", bad), two[0], two[1]], None);
        }
        check(&[("authorization", "Bearer a:b"), two[0], two[1]], Some(("a", "b")));
    }

    #[test]
    fn what_came_twice_or_in_half_does_not_count() {
        check(&[], None);
        check(&[("x-api-key", "key")], None);
        check(&[("x-api-secret", "secret")], None);
        check(&[("authorization", "Bearer a:b"), ("authorization", "Bearer a:b")], None);
        check(&[("x-api-key", "k"), ("x-api-key", "k"), ("x-api-secret", "s")], None);
        check(&[("authorization", &format!("Bearer key:{}", "s".repeat(HEADER_BYTES_MAX)))], None);
    }
}
