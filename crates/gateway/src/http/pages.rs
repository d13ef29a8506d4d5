//! What web pages need of a request: where it came from, its id, and a small body.

use super::framing::{self, FramingRefusal};
use super::{request_id, source_of};
use crate::clock::Clock;
use crate::listeners::Source;
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use std::net::IpAddr;
use std::time::Duration;

/// The largest form: a list of a thousand opt-outs with their notes.
const FORM_BYTES_MAX: usize = 256 * 1024;
/// How long a form may take to arrive.
const FORM_WAIT_MAX: Duration = Duration::from_secs(30);

/// Where a request for a page came from.
#[derive(Clone, Debug)]
pub struct PageSource {
    /// The client; none for a request of this process.
    pub address: Option<IpAddr>,
    /// Whether the browser runs on this machine and no proxy is between.
    pub is_local: bool,
    pub request_id: HeaderValue,
}

/// Why a request for a page is not answered with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRefusal {
    /// The framing is ambiguous. The connection must be closed.
    Ambiguous { field: &'static str, rule: &'static str },
    /// The body is too large, too slow or broken.
    Body,
}

/// Checks the head of a request and reads its body. The source is among the extensions of the returned request.
pub async fn receive(request: Request, clock: &Clock) -> Result<Request, PageRefusal> {
    let (mut head, body) = request.into_parts();
    let source = source_of_page(&head);
    if source.address.is_some() {
        framing::check(&head)
            .map_err(|FramingRefusal { field, rule }| PageRefusal::Ambiguous { field, rule })?;
    }
    let body = read(body, clock).await?;
    head.extensions.insert(source);
    Ok(Request::from_parts(head, Body::from(body)))
}

async fn read(body: Body, clock: &Clock) -> Result<Bytes, PageRefusal> {
    let whole = Limited::new(body, FORM_BYTES_MAX).collect();
    tokio::select! {
        whole = whole => whole.map(|body| body.to_bytes()).map_err(|_| PageRefusal::Body),
        () = clock.sleep(FORM_WAIT_MAX) => Err(PageRefusal::Body),
    }
}

fn source_of_page(head: &Parts) -> PageSource {
    let source = source_of(&head.extensions, &head.headers);
    let is_local = |source: Source| source.address.is_loopback() && !source.is_forwarded;
    PageSource {
        address: source.map(|source| source.address),
        is_local: source.is_some_and(is_local),
        request_id: request_id::of(&head.headers),
    }
}

/// The header with the id of a request.
pub const fn request_id_header() -> HeaderName {
    request_id::X_REQUEST_ID
}
