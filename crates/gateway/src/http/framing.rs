//! What must be right about a request before anyone asks what it wants: that we and every proxy in front of us agree
//! where it ends and whom it is for. hyper has refused most of what is ambiguous; this is the rest. It holds for every
//! route of every HTTP listener.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Version, header};

/// Marks a request that came with both Content-Length and Transfer-Encoding. hyper drops the length before a request
/// is handed on, so whoever reads the connection says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoLengths;

/// A header that makes a request ambiguous, and its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramingRefusal {
    pub(crate) field: &'static str,
    pub(crate) rule: &'static str,
}

/// A request that breaks this is answered with 400, and its connection ends.
pub(crate) fn check(head: &Parts) -> Result<(), FramingRefusal> {
    let refused = |field, rule| Err(FramingRefusal { field, rule });
    if head.extensions.get::<TwoLengths>().is_some() {
        return refused("Content-Length", "it must not come together with Transfer-Encoding");
    }
    // RFC 9112 section 6.1: hyper takes any list that ends in chunked, and hands the rest on undecoded.
    match values(&head.headers, &header::TRANSFER_ENCODING) {
        (None, _) => {}
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {}
        (Some(_), _) => return refused("Transfer-Encoding", "it must be chunked, or absent"),
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
