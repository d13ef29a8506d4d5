//! Connects to a carrier over TCP, and TLS where the carrier's entry has it. Every step has a timeout, and every error
//! says what can be done about it.
//!
//! [`connect`] returns a [`Stream`] whose writes complete only when the octets were handed to the network, with and
//! without TLS; [`close`] shuts it down within a short time.

mod certificate_check;

pub(super) use crate::stream::{Stream, close};

use crate::clock::Clock;
use crate::stream::connect_any;
use crate::tls;
use certificate_check::CertificateCheck;
use hermod_domain::catalogue::{Carrier, CarrierTls};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// After this long without a TCP acknowledgement the kernel drops the connection.
const USER_TIMEOUT: Duration = Duration::from_secs(30);
/// Addresses of one host that are tried. They share the connect timeout.
const ADDRESSES_MAX: usize = 4;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotConnected {
    #[error("{address} cannot be reached: {error}")]
    Unreachable { address: String, error: std::io::Error },
    #[error("{address}: connect timed out after {} s", wait.as_secs_f32())]
    NoAnswer { address: String, wait: Duration },
    #[error(
        "TLS handshake timed out after {} s; perhaps the carrier does not use TLS on this port",
        .0.as_secs_f32()
    )]
    HandshakeTimeout(Duration),
    /// The TLS settings of the carrier's entry are invalid.
    #[error("{0}")]
    Settings(String),
    /// The carrier's certificate was rejected, or there is no common TLS version.
    #[error("{0}")]
    Handshake(String),
}

impl NotConnected {
    /// Whether a retry fails again until a setting here or a certificate there changes.
    pub(super) fn needs_operator(&self) -> bool {
        match self {
            NotConnected::Settings(_) | NotConnected::Handshake(_) => true,
            NotConnected::Unreachable { .. }
            | NotConnected::NoAnswer { .. }
            | NotConnected::HandshakeTimeout(_) => false,
        }
    }
}

/// Connects, with TLS if the entry has it. Connecting and the handshake each have the profile's bind timeout.
pub(super) async fn connect(clock: &Clock, carrier: &Carrier) -> Result<Stream, NotConnected> {
    let wait = Duration::from_millis(carrier.profile.bind_wait_ms);
    let tcp = connect_tcp(clock, &carrier.address, wait).await?;
    match &carrier.tls {
        None => Ok(Stream::plain(tcp)),
        Some(settings) => {
            let handshake = tls_handshake(tcp, &carrier.address, settings);
            tokio::select! {
                stream = handshake => stream,
                () = clock.sleep(wait) => Err(NotConnected::HandshakeTimeout(wait)),
            }
        }
    }
}

async fn connect_tcp(clock: &Clock, address: &str, wait: Duration) -> Result<TcpStream, NotConnected> {
    let until = clock.moment().plus(wait);
    let unreachable = |error| NotConnected::Unreachable { address: address.to_owned(), error };
    let no_answer = || NotConnected::NoAnswer { address: address.to_owned(), wait };
    let found: Vec<SocketAddr> = tokio::select! {
        found = tokio::net::lookup_host(address) => found.map_err(unreachable)?.take(ADDRESSES_MAX).collect(),
        () = clock.sleep_until(until) => return Err(no_answer()),
    };
    let connected = connect_any(clock, &found, until, USER_TIMEOUT).await;
    connected.map_err(|failed| failed.map_or_else(no_answer, unreachable))
}

async fn tls_handshake(tcp: TcpStream, address: &str, settings: &CarrierTls) -> Result<Stream, NotConnected> {
    let name = server_name(address, settings)?;
    let check = Arc::new(certificate_check(settings).await?);
    let config = ClientConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&tls::VERSIONS)
        .expect("ring has both versions")
        .dangerous()
        .with_custom_certificate_verifier(check.clone())
        .with_no_client_auth();
    match TlsConnector::from(Arc::new(config)).connect(name, tcp).await {
        Ok(stream) => Ok(Stream::tls(stream)),
        Err(error) => Err(NotConnected::Handshake(check.describe_failure(&error, settings))),
    }
}

/// Returns the name that the carrier's certificate must have: `tls.name`, else the host of its address.
fn server_name(address: &str, settings: &CarrierTls) -> Result<ServerName<'static>, NotConnected> {
    let host = address.rsplit_once(':').map_or(address, |(host, _port)| host);
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = settings.name.as_deref().unwrap_or(host);
    ServerName::try_from(name.to_owned()).map_err(|_| {
        NotConnected::Settings(format!("{name:?} is not a valid certificate name: set tls.name"))
    })
}

async fn certificate_check(settings: &CarrierTls) -> Result<CertificateCheck, NotConnected> {
    if let Some(fingerprint) = &settings.fingerprint {
        return CertificateCheck::by_fingerprint(fingerprint).map_err(NotConnected::Settings);
    }
    let file = settings.ca.clone();
    // Reads and parses some hundred kilobytes, so not on an async thread.
    let read = tokio::task::spawn_blocking(move || tls::authorities(file.as_deref().map(Path::new))).await;
    let authorities = read.map_err(|panic| NotConnected::Settings(panic.to_string()))?;
    let authorities = authorities.map_err(|fault| NotConnected::Settings(format!("tls.ca: {fault}")))?;
    CertificateCheck::by_authorities(authorities).map_err(NotConnected::Settings)
}

#[cfg(test)]
mod tests;
