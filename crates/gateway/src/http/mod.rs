//! The HTTP server under both APIs: accepts connections, limits and times them, finds out where a request came from, checks
//! how its length is framed, and shows an API's document as a page.

pub mod body_memory;
pub(crate) mod framing;
mod limits;
mod listener;
mod observed_stream;
pub mod openapi_errors;
pub mod openapi_page;
pub(crate) mod peer_address;
mod raw_heads;
pub(crate) mod request_id;
mod server;
pub(crate) mod timeouts;

pub use crate::arrivals::{Reach, TrustedProxies};
pub use limits::Limits;
pub use listener::{Entrance, Security};
pub use server::serve;
pub use timeouts::Carried;

use crate::arrivals::Source;
use axum::http::{Extensions, HeaderMap};

/// Returns where a request came from; none for a request of this process. Where a trusted proxy names the caller
/// unreadably, the proxy.
pub(crate) fn source_of(extensions: &Extensions, headers: &HeaderMap) -> Option<Source> {
    let Carried { peer, proxies, .. } = extensions.get()?;
    let address = peer_address::of(*peer, proxies, headers).unwrap_or(*peer);
    Some(Source { address, is_forwarded: peer_address::is_forwarded(headers) })
}
