//! The server of a run and the credentials.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use thiserror::Error;

/// A server's base URL, which ends in `/api/v1`, and API credentials.
#[derive(Clone)]
pub struct HttpTarget {
    host: String,
    port: u16,
    /// Path of `POST /sms`.
    path: Uri,
    /// The headers of every request.
    headers: HeaderMap,
}

/// Why a base URL is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetRefusal {
    #[error("{0:?} is not a base URL: expected one such as http://127.0.0.1:8080/api/v1")]
    BadUrl(String),
    #[error("{0:?}: only http:// is supported")]
    NotHttp(String),
}

impl HttpTarget {
    pub fn new(base_url: &str, api_key: &str, api_secret: &str) -> Result<HttpTarget, TargetRefusal> {
        let bad_url = || TargetRefusal::BadUrl(base_url.to_owned());
        let base: Uri = base_url.trim_end_matches('/').parse().map_err(|_| bad_url())?;
        if base.scheme_str() != Some("http") {
            return Err(TargetRefusal::NotHttp(base_url.to_owned()));
        }
        let host = base.host().ok_or_else(bad_url)?.to_owned();
        let port = base.port_u16().unwrap_or(80);
        let path = format!("{}/sms", base.path().trim_end_matches('/'));
        let path = Uri::try_from(path).map_err(|_| bad_url())?;
        let mut headers = HeaderMap::new();
        let host_header = HeaderValue::try_from(format!("{host}:{port}")).map_err(|_| bad_url())?;
        headers.insert(HOST, host_header);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let basic = format!("Basic {}", STANDARD.encode(format!("{api_key}:{api_secret}")));
        let mut basic = HeaderValue::try_from(basic).expect("base64 is printable ASCII");
        basic.set_sensitive(true);
        headers.insert(AUTHORIZATION, basic);
        Ok(HttpTarget { host, port, path, headers })
    }

    pub(super) fn path(&self) -> &Uri {
        &self.path
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(super) async fn resolve(&self) -> io::Result<SocketAddr> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut addresses = tokio::net::lookup_host((host, self.port)).await?;
        addresses
            .next()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} has no address", self.host)))
    }
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}:{}{})", self.host, self.port, self.path)
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
