//! The headers that tell a caller how much of an allowance is left: the connection's once it is known, what its address
//! may still get wrong before that.

use super::headers::{RATELIMIT, X_RATELIMIT_LIMIT, X_RATELIMIT_REMAINING, X_RATELIMIT_RESET};
use crate::world::RateLeft;
use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;

pub(super) const CONNECTION: &str = "connection";
pub(super) const FAILED_SIGN_INS: &str = "failed-sign-ins";

pub(super) fn show(headers: &mut HeaderMap, policy: &str, left: RateLeft) {
    let RateLeft { limit, remaining, whole_in, refused_for: _ } = left;
    let reset_s = u32::try_from(whole_in.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
    let (remaining, reset): (HeaderValue, HeaderValue) = (remaining.into(), reset_s.into());
    // On every answer, so put together from what is written already.
    let pieces = [b"\"", policy.as_bytes(), b"\";r=", remaining.as_bytes(), b";t=", reset.as_bytes()];
    let rate = Bytes::from(pieces.concat());
    headers.insert(X_RATELIMIT_LIMIT, limit.into());
    headers.insert(X_RATELIMIT_REMAINING, remaining);
    headers.insert(X_RATELIMIT_RESET, reset);
    headers.insert(RATELIMIT, HeaderValue::from_maybe_shared(rate).expect("digits and signs are visible"));
}
