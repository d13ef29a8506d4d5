//! The HTTP client of the commands: one request per connection, and an explanation of every failure. No pool, redirects or
//! proxies: a command makes few calls.

mod response;
mod streaming;
pub(crate) mod tls;
mod url;

pub(crate) use response::{ApiResponse, ErrorResponse, ExactAmount, read};
pub(crate) use streaming::{StreamedResponse, read_pieces};
pub(crate) use url::{Url, escape};

use crate::failure::Failure;
use bytes::Bytes;
use hermod_gateway::clock::within;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use tls::{ClientTls, Trust};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Time for a whole call: connecting, TLS, the request and its response.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(30);
const AGENT: &str = concat!("hermod/", env!("CARGO_PKG_VERSION"));

pub(crate) type ApiRequest = Request<Full<Bytes>>;

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The request was not sent.
    Unreachable(String),
    /// The request may have been carried out.
    Lost(String),
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Unreachable(sentence) | CallError::Lost(sentence) => f.write_str(sentence),
        }
    }
}

/// Sends requests to one gateway.
pub(crate) struct HttpClient {
    url: Url,
    tls: Option<ClientTls>,
}

impl HttpClient {
    /// `ca` is a file of certificate authorities to trust instead of this machine's.
    pub(crate) fn new(url: Url, ca: Option<&Path>) -> Result<HttpClient, String> {
        let tls = url.is_https().then(|| ClientTls::new(&Trust::Authorities(ca))).transpose()?;
        Ok(HttpClient { url, tls })
    }

    /// Returns a client that expects the certificate with this SHA-256 and does not check its names.
    pub(crate) fn pinning(url: Url, fingerprint: &str) -> Result<HttpClient, Failure> {
        let tls = ClientTls::new(&Trust::Fingerprint(fingerprint)).map_err(Failure::failed)?;
        Ok(HttpClient { url, tls: Some(tls) })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) async fn call(&self, request: ApiRequest) -> Result<ApiResponse, CallError> {
        self.call_within(request, CALL_MAX).await
    }

    pub(crate) async fn call_within(
        &self,
        request: ApiRequest,
        most: Duration,
    ) -> Result<ApiResponse, CallError> {
        match within(most, self.connect_and_send(request, read)).await {
            Ok(response) => response,
            Err(_) => Err(CallError::Lost(format!(
                "{} did not respond within {} s",
                self.url.authority(),
                most.as_secs()
            ))),
        }
    }

    /// Sends a request, and passes the pieces of its response on as they arrive.
    pub(crate) async fn stream(
        &self,
        request: ApiRequest,
        piece: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<StreamedResponse, CallError> {
        self.connect_and_send(request, async |response| read_pieces(response, piece).await).await
    }

    async fn connect_and_send<T>(
        &self,
        mut request: ApiRequest,
        receive: impl AsyncFnOnce(Response<Incoming>) -> Result<T, String>,
    ) -> Result<T, CallError> {
        let authority = HeaderValue::try_from(self.url.authority()).expect("a parsed host is ASCII");
        request.headers_mut().insert(HOST, authority);
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        let stream = TcpStream::connect((self.url.host(), self.url.port()))
            .await
            .map_err(|error| CallError::Unreachable(unreachable(&self.url, &error)))?;
        match &self.tls {
            None => send(stream, request, receive).await,
            Some(tls) => {
                let stream = tls.handshake(self.url.host(), stream).await.map_err(|error| {
                    CallError::Unreachable(format!(
                        "the TLS handshake with {} failed: {error} (set a private certificate authority with --ca FILE)",
                        self.url.authority()
                    ))
                })?;
                send(stream, request, receive).await
            }
        }
    }
}

fn unreachable(url: &Url, error: &std::io::Error) -> String {
    let server = url.authority();
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("connection to {server} refused; is the gateway running?"),
        _ => format!("cannot connect to {server}: {error}"),
    }
}

async fn send<S: AsyncRead + AsyncWrite + Unpin, T>(
    stream: S,
    request: ApiRequest,
    receive: impl AsyncFnOnce(Response<Incoming>) -> Result<T, String>,
) -> Result<T, CallError> {
    let lost = |error: hyper::Error| {
        CallError::Lost(format!("the connection was lost before the response: {error}"))
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(lost)?;
        receive(response).await.map_err(CallError::Lost)
    };
    // Drives the connection in this task.
    let (mut exchange, mut connection) = (pin!(exchange), pin!(connection));
    tokio::select! {
        response = &mut exchange => response,
        _ = &mut connection => exchange.await,
    }
}

#[cfg(test)]
mod tests;
