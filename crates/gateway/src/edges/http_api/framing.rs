//! What must be right about a request before anyone asks what it wants: that we and whoever stands in front of us agree
//! where it ends and whom it is for. hyper has refused most of what is ambiguous; this is the rest.

use super::headers::{Occurrence, single};
use axum::http::request::Parts;
use axum::http::{Version, header};
use hermod_domain::refusal::Refusal;

/// A request that breaks this is answered, and its connection ends.
pub(super) fn check(head: &Parts) -> Result<(), Refusal> {
    let refused = |field, rule| Err(Refusal::InvalidField { field, rule });
    // RFC 9112 section 6.1: hyper takes any list that ends in chunked, and hands the rest on undecoded.
    match single(&head.headers, &header::TRANSFER_ENCODING) {
        Occurrence::Absent => {}
        Occurrence::Once(coding) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {}
        Occurrence::Once(_) | Occurrence::Repeated => {
            return refused("Transfer-Encoding", "it must be chunked, or absent");
        }
    }
    // RFC 9112 section 3.2.
    match single(&head.headers, &header::HOST) {
        Occurrence::Once(_) => Ok(()),
        Occurrence::Absent if head.version < Version::HTTP_11 => Ok(()),
        Occurrence::Absent | Occurrence::Repeated => refused("Host", "it must be given once"),
    }
}
