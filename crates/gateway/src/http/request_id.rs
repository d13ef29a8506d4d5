//! The id of a request, for logs on both sides: the client's `X-Request-Id` if it is valid, else a generated one.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const ID_BYTES_MAX: usize = 64;

/// Counts up from a random start, so that the ids of two processes differ.
static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
    let mut start = [0; 8];
    // Without randomness ids still differ within the process, which is enough.
    let _ = getrandom::fill(&mut start);
    AtomicU64::new(u64::from_ne_bytes(start))
});

pub(crate) fn of(headers: &HeaderMap) -> HeaderValue {
    match headers.get(&X_REQUEST_ID) {
        Some(given) if is_valid(given.as_bytes()) => given.clone(),
        Some(_) | None => fresh(),
    }
}

fn is_valid(id: &[u8]) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn fresh() -> HeaderValue {
    let id = format!("{:016x}", NEXT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::from_maybe_shared(Bytes::from(id)).expect("hex digits are visible")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, echoed: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(X_REQUEST_ID, HeaderValue::from_str(given).unwrap());
        assert_eq!(of(&headers) == given, echoed, "{given:?}");
    }

    #[test]
    fn valid_id_is_echoed_and_any_other_replaced() {
        check("A-z_0.9", true);
        check(&"x".repeat(64), true);
        check(&"x".repeat(65), false);
        for odd in ["", "a b", "a/b", "a;b", "\"a\"", "<a>"] {
            check(odd, false);
        }
    }

    #[test]
    fn generated_ids_differ() {
        let (one, other) = (fresh(), fresh());
        assert_eq!(one.len(), 16);
        assert_ne!(one, other);
    }
}
