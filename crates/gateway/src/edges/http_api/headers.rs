//! The API's own headers: their names, rate-limit headers, and reading a header that may occur only once.

use crate::gateway::RateLeft;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const IDEMPOTENCY_MISMATCH: HeaderName = HeaderName::from_static("idempotency-mismatch");
pub(super) const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
pub(super) const X_API_SECRET: HeaderName = HeaderName::from_static("x-api-secret");
pub(super) const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");
pub(super) const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
pub(super) const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
pub(super) const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
pub(super) const X_SMS_ENCODING: HeaderName = HeaderName::from_static("x-sms-encoding");
pub(super) const X_SMS_PARTS: HeaderName = HeaderName::from_static("x-sms-parts");

/// How often a single-valued header occurs.
pub(super) enum Occurrence<'a> {
    Absent,
    Once(&'a HeaderValue),
    /// None counts: a proxy in front of us may have used any of them.
    Repeated,
}

pub(super) fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Occurrence<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Occurrence::Absent,
        (Some(value), None) => Occurrence::Once(value),
        (Some(_), Some(_)) => Occurrence::Repeated,
    }
}

/// The policy names of the `RateLimit` header.
pub(super) const CONNECTION: &str = "connection";
pub(super) const FAILED_SIGN_INS: &str = "failed-sign-ins";

/// Sets the rate-limit headers.
pub(super) fn set_rate_limit(headers: &mut HeaderMap, policy: &str, left: RateLeft) {
    let RateLeft { limit, remaining, whole_in, refused_for: _ } = left;
    let reset_s = u32::try_from(whole_in.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    let (remaining, reset): (HeaderValue, HeaderValue) = (remaining.into(), reset_s.into());
    // On every response, so reuse the values written above.
    let pieces = [b"\"", policy.as_bytes(), b"\";r=", remaining.as_bytes(), b";t=", reset.as_bytes()];
    let rate = Bytes::from(pieces.concat());
    headers.insert(X_RATELIMIT_LIMIT, limit.into());
    headers.insert(X_RATELIMIT_REMAINING, remaining);
    headers.insert(X_RATELIMIT_RESET, reset);
    headers.insert(RATELIMIT, HeaderValue::from_maybe_shared(rate).expect("digits and signs are visible"));
}
