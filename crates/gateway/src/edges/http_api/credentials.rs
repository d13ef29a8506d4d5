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
#[path = "credentials_tests.rs"]
mod tests;
