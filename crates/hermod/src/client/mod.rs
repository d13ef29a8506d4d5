//! The HTTP client of the commands: one request on a connection of its own, one answer, and a sentence for whatever
//! went wrong in between. No pool, no redirects, no proxies: a command makes a handful of calls.

mod answer;
mod tls;
mod url;

pub(crate) use answer::{Amount, Answer, Refused, read};
pub(crate) use url::{Url, escape};

use bytes::Bytes;
use hermod_gateway::clock::within;
use http_body_util::Full;
use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper_util::rt::TokioIo;
use std::io::ErrorKind;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use tls::Tls;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// A whole call: connecting, TLS, the request and its answer.
const CALL_MAX: Duration = Duration::from_secs(30);
const AGENT: &str = concat!("hermod/", env!("CARGO_PKG_VERSION"));

pub(crate) type Ask = Request<Full<Bytes>>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum CallError {
    /// Nothing of the request left this machine.
    Unreachable(String),
    /// The request may have arrived and may have been carried out.
    Lost(String),
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Unreachable(sentence) | CallError::Lost(sentence) => f.write_str(sentence),
        }
    }
}

/// Calls one gateway.
pub(crate) struct Client {
    url: Url,
    tls: Option<Tls>,
}

impl Client {
    /// `ca` is a file of certificates to trust instead of those this machine trusts.
    pub(crate) fn new(url: Url, ca: Option<&Path>) -> Result<Client, String> {
        let tls = url.is_https().then(|| Tls::trusting(ca)).transpose()?;
        Ok(Client { url, tls })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) async fn call(&self, ask: Ask) -> Result<Answer, CallError> {
        self.call_within(ask, CALL_MAX).await
    }

    pub(crate) async fn call_within(&self, mut ask: Ask, most: Duration) -> Result<Answer, CallError> {
        let authority = HeaderValue::try_from(self.url.authority()).expect("a host was checked to be ASCII");
        ask.headers_mut().insert(HOST, authority);
        ask.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
        ask.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        match within(most, self.connect_and_talk(ask)).await {
            Ok(answered) => answered,
            Err(_) => Err(CallError::Lost(format!(
                "{} gave no answer within {} s",
                self.url.authority(),
                most.as_secs()
            ))),
        }
    }

    async fn connect_and_talk(&self, ask: Ask) -> Result<Answer, CallError> {
        let stream = TcpStream::connect((self.url.host(), self.url.port()))
            .await
            .map_err(|error| CallError::Unreachable(unreachable(&self.url, &error)))?;
        match &self.tls {
            None => talk(stream, ask).await,
            Some(tls) => {
                let stream = tls.shake_hands(self.url.host(), stream).await.map_err(|error| {
                    CallError::Unreachable(format!(
                        "{} cannot be trusted: {error} (name a private certificate authority with --ca FILE)",
                        self.url.authority()
                    ))
                })?;
                talk(stream, ask).await
            }
        }
    }
}

fn unreachable(url: &Url, error: &std::io::Error) -> String {
    let place = url.authority();
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("nothing listens at {place}; is the gateway running?"),
        _ => format!("{place} cannot be reached: {error}"),
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin>(stream: S, ask: Ask) -> Result<Answer, CallError> {
    let lost =
        |error: hyper::Error| CallError::Lost(format!("the connection was lost before the answer: {error}"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let exchange = async {
        let response = sender.send_request(ask).await.map_err(lost)?;
        read(response).await.map_err(CallError::Lost)
    };
    // The connection's own work runs here too: one call needs no second task.
    let (mut exchange, mut connection) = (pin!(exchange), pin!(connection));
    tokio::select! {
        answered = &mut exchange => answered,
        _ = &mut connection => exchange.await,
    }
}

#[cfg(test)]
mod tests;
