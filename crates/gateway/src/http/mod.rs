//! The HTTP server of both APIs: accepts connections, enforces limits and timeouts, determines the client address,
//! checks the framing, and renders an API's document as a page.

mod admission;
pub mod body_memory;
pub(crate) mod framing;
pub(crate) mod http2;
mod limits;
mod listener;
pub(crate) mod no_answer;
mod observed_stream;
pub mod openapi_errors;
pub mod openapi_page;
pub mod pages;
pub(crate) mod peer_address;
mod raw_heads;
pub(crate) mod request_id;
mod server;
mod streamed_body;
pub(crate) mod timeouts;

pub use crate::listeners::{Reach, TrustedProxies};
pub use limits::Limits;
pub use listener::{HttpListener, Security};
pub use server::serve;
pub use timeouts::ConnectionInfo;

use crate::listeners::Source;
use axum::http::{Extensions, HeaderMap};

/// Returns the source of a request; `None` for a request of this process. If a trusted proxy sent an unreadable
/// address, the source is the proxy.
pub(crate) fn source_of(extensions: &Extensions, headers: &HeaderMap) -> Option<Source> {
    let ConnectionInfo { peer, proxies, is_proxied, .. } = extensions.get()?;
    let address = peer_address::of(*peer, proxies, headers).unwrap_or(*peer);
    Some(Source { address, is_forwarded: *is_proxied || peer_address::is_forwarded(headers) })
}
