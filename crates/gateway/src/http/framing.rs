//! Rejects requests whose length or host is ambiguous, so that we and any proxy in front of us agree on them (request
//! smuggling). hyper rejects most of them; these are the rest. Applies to every route of every HTTP listener.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Version, header};

/// Marks a request with both Content-Length and Transfer-Encoding. hyper drops the length before it passes a request
/// on, so the connection sets this mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoLengths;

/// The header that makes a request ambiguous, and the rule it violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramingRefusal {
    pub field: &'static str,
    pub rule: &'static str,
}

/// Checks the head. A violation is answered with 400 and closes the connection.
pub fn check(head: &Parts) -> Result<(), FramingRefusal> {
    let refused = |field, rule| Err(FramingRefusal { field, rule });
    if head.extensions.get::<TwoLengths>().is_some() {
        return refused("Content-Length", "it must not come together with Transfer-Encoding");
    }
    // RFC 9112 section 6.1: hyper accepts any list that ends in chunked, and does not decode the other codings.
    match values(&head.headers, &header::TRANSFER_ENCODING) {
        (None, _) => {}
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {}
        (Some(_), _) => return refused("Transfer-Encoding", "it must be chunked, or absent"),
    }
    // RFC 9113 section 8.1.1: hyper compares the body with the first length only.
    if head.version == Version::HTTP_2 && values(&head.headers, &header::CONTENT_LENGTH).1.is_some() {
        return refused("Content-Length", "it must be given once");
    }
    // RFC 9112 section 3.2.
    match values(&head.headers, &header::HOST) {
        (Some(_), None) => Ok(()),
        (None, _) if head.version < Version::HTTP_11 => Ok(()),
        (Some(_), Some(_)) | (None, _) => refused("Host", "it must be given once"),
    }
}

/// The first two values of a header.
fn values<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> (Option<&'a HeaderValue>, Option<&'a HeaderValue>) {
    let mut values = headers.get_all(name).iter();
    (values.next(), values.next())
}
