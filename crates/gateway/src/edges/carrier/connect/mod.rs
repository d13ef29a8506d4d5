//! A connection to a carrier: TCP, and TLS above it where the carrier has it. Every step has its time, and what fails says
//! what can be done about it.
//!
//! For whoever runs a link: [`connect`] gives a [`Stream`], whose writes are finished only when the octets have left for
//! the network, with TLS as without; [`close`] says goodbye and never takes long.

mod certificate_check;

pub(super) use crate::stream::{Stream, close};

use crate::clock::{Clock, Moment};
use crate::tls;
use certificate_check::Proof;
use hermod_domain::catalogue::{Carrier, CarrierTls};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

/// Unacknowledged data for this long means the peer is gone, whatever else it looks like.
const USER_TIMEOUT: Duration = Duration::from_secs(30);
/// Addresses of one host that are tried. They share the time there is for connecting.
const ADDRESSES_MAX: usize = 4;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotConnected {
    #[error("{address} cannot be reached: {error}")]
    Unreachable { address: String, error: std::io::Error },
    #[error("{address} does not answer within {} s", wait.as_secs_f32())]
    NoAnswer { address: String, wait: Duration },
    #[error(
        "the carrier does not go on with the TLS handshake within {} s; perhaps it speaks no TLS on this port",
        .0.as_secs_f32()
    )]
    HandshakeTimeout(Duration),
    /// Our settings for TLS cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The carrier could not prove who it is, or does not speak TLS as we do.
    #[error("{0}")]
    Handshake(String),
}

impl NotConnected {
    /// It will be the same next time, until somebody changes a setting here or a certificate there.
    pub(super) fn needs_somebody(&self) -> bool {
        match self {
            NotConnected::Settings(_) | NotConnected::Handshake(_) => true,
            NotConnected::Unreachable { .. }
            | NotConnected::NoAnswer { .. }
            | NotConnected::HandshakeTimeout(_) => false,
        }
    }
}

/// Connects, with TLS if the carrier has it. Connecting and the handshake each have the profile's time.
pub(super) async fn connect(clock: &Clock, carrier: &Carrier) -> Result<Stream, NotConnected> {
    let wait = Duration::from_millis(carrier.profile.bind_wait_ms);
    let tcp = connect_tcp(clock, &carrier.address, wait).await?;
    match &carrier.tls {
        None => Ok(Stream::plain(tcp)),
        Some(settings) => {
            let handshake = shake_hands(tcp, &carrier.address, settings);
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
    let mut failed = NotConnected::Unreachable {
        address: address.to_owned(),
        error: std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address"),
    };
    for (place, socket_address) in found.iter().enumerate() {
        // One that swallows everything must not take the time of those behind it.
        let share = share_of(clock.moment(), until, found.len() - place);
        failed = tokio::select! {
            connected = TcpStream::connect(socket_address) => match connected.and_then(tune) {
                Ok(stream) => return Ok(stream),
                Err(error) => unreachable(error),
            },
            () = clock.sleep(share) => no_answer(),
        };
    }
    Err(failed)
}

fn share_of(now: Moment, until: Moment, among: usize) -> Duration {
    let left = Duration::from_millis(until.0.saturating_sub(now.0));
    left / u32::try_from(among).unwrap_or(u32::MAX).max(1)
}

fn tune(stream: TcpStream) -> std::io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let timeout = u32::try_from(USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&stream, timeout)?;
    Ok(stream)
}

async fn shake_hands(tcp: TcpStream, address: &str, settings: &CarrierTls) -> Result<Stream, NotConnected> {
    let name = server_name(address, settings)?;
    let proof = Arc::new(proof_wanted(settings).await?);
    let config = ClientConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&tls::VERSIONS)
        .expect("ring has both versions")
        .dangerous()
        .with_custom_certificate_verifier(proof.clone())
        .with_no_client_auth();
    match TlsConnector::from(Arc::new(config)).connect(name, tcp).await {
        Ok(stream) => Ok(Stream::tls(stream)),
        Err(error) => Err(NotConnected::Handshake(proof.what_is_wrong(&error, settings))),
    }
}

/// The name in the carrier's certificate: as the settings say, else the host of its address.
fn server_name(address: &str, settings: &CarrierTls) -> Result<ServerName<'static>, NotConnected> {
    let host = address.rsplit_once(':').map_or(address, |(host, _port)| host);
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = settings.name.as_deref().unwrap_or(host);
    ServerName::try_from(name.to_owned()).map_err(|_| {
        NotConnected::Settings(format!("{name:?} is no name that a certificate can have: set tls.name"))
    })
}

async fn proof_wanted(settings: &CarrierTls) -> Result<Proof, NotConnected> {
    if let Some(fingerprint) = &settings.fingerprint {
        return Proof::by_fingerprint(fingerprint).map_err(NotConnected::Settings);
    }
    let file = settings.ca.clone();
    // Some hundred kilobytes are read and parsed, which nobody else should wait for.
    let read = tokio::task::spawn_blocking(move || tls::authorities(file.as_deref().map(Path::new))).await;
    let authorities = read.map_err(|panic| NotConnected::Settings(panic.to_string()))?;
    let authorities = authorities.map_err(|fault| NotConnected::Settings(format!("tls.ca: {fault}")))?;
    Proof::by_authorities(authorities).map_err(NotConnected::Settings)
}

#[cfg(test)]
mod tests;
