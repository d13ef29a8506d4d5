//! The header names of the API that HTTP itself does not have, and reading a header that may come only once.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

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

/// How often a header came that means something only once.
pub(super) enum Occurrence<'a> {
    Absent,
    Once(&'a HeaderValue),
    /// Which of them a proxy in front of us went by cannot be known, so none of them counts.
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
