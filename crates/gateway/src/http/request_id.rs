//! The id of a request, for logs on both sides: the client's `X-Request-Id` if it is valid, else a generated one.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use hermod_domain::shown_number::{NumberKind, ShownNumbers};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const ID_BYTES_MAX: usize = 64;

/// Counts the requests of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Shows the count, with a key and a beginning of this process: the ids of two processes differ, and two ids do not tell how many
/// requests came between them.
static SHOWN: LazyLock<(ShownNumbers, u32)> = LazyLock::new(|| {
    let mut random = [0; 36];
    // Without randomness ids still differ within the process, which is enough.
    let _ = getrandom::fill(&mut random);
    let (key, start) = random.split_at(32);
    let key = ShownNumbers::new(key.try_into().expect("32 octets"));
    (key, u32::from_ne_bytes(start.try_into().expect("four octets")))
});

pub fn of(headers: &HeaderMap) -> HeaderValue {
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
    let (numbers, start) = &*SHOWN;
    let shown = numbers.show(NumberKind::HttpRequest, NEXT.fetch_add(1, Ordering::Relaxed));
    let id = format!("{start:08x}{shown:013x}");
    HeaderValue::from_maybe_shared(Bytes::from(id)).expect("hex digits are visible")
}

#[cfg(test)]
#[path = "request_id_tests.rs"]
mod tests;
