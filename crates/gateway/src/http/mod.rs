//! The HTTP server of both APIs: accepts connections, enforces limits and timeouts, determines the client address,
//! checks the framing, and serves an API's document and its page.

mod admission;
pub mod body_memory;
pub mod framing;
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
pub mod request_id;
mod server;
mod streamed_body;
pub(crate) mod timeouts;

pub use crate::listeners::{Reach, Source, TrustedProxies};
pub use limits::HttpLimits;
pub use listener::{HttpListener, Security};
pub use server::serve;
pub use timeouts::ConnectionInfo;

use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderMap, Uri, header};
use std::net::IpAddr;

/// Returns the source of a request; `None` for a request of this process. If a trusted proxy sent an unreadable
/// address, the source is the proxy. Everything from a trusted proxy is forwarded: a proxy may add no header.
pub fn source_of(extensions: &Extensions, headers: &HeaderMap) -> Option<Source> {
    let ConnectionInfo { peer, proxies, is_proxied, .. } = extensions.get()?;
    let address = peer_address::of(*peer, proxies, headers).unwrap_or(*peer);
    let is_forwarded = *is_proxied || proxies.trust(*peer) || peer_address::is_forwarded(headers);
    Some(Source { address, is_forwarded })
}

/// Whether the request is addressed to this machine by a loopback address or `localhost`. A web page that resolves its own
/// name to a loopback address has that name here. A request without any name is no browser's.
pub fn names_this_machine(uri: &Uri, headers: &HeaderMap) -> bool {
    let authority = uri.authority().map(Authority::as_str);
    let hosts = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
    authority.into_iter().chain(hosts).all(is_this_machine)
}

fn is_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests;
