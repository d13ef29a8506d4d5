//! The server of a run, the credentials, and opening a bind.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub use hermod_domain::carrier::SmppVersion;
use hermod_smpp::session::{BindRequest, ClientConfig, CloseReason};
use hermod_smpp::{
    BindType, CommandStatus, EncodeError, Moment, Session, SessionEvent, VERSION_3_3, VERSION_3_4,
};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, RootCertStore};

use crate::runtime;
use crate::session_driver::{ByteStream, SessionDriver};

/// Time for connecting and the TLS handshake.
const CONNECT_MAX: Duration = Duration::from_secs(30);

fn version_octet(version: SmppVersion) -> u8 {
    match version {
        SmppVersion::V33 => VERSION_3_3,
        SmppVersion::V34 => VERSION_3_4,
    }
}

/// A server and the credentials of a bind.
#[derive(Clone)]
pub struct SmppTarget {
    /// Host and port.
    pub address: String,
    pub system_id: String,
    pub password: String,
    pub system_type: String,
    pub version: SmppVersion,
    pub tls: Option<TlsTrust>,
}

impl SmppTarget {
    /// SMPP 3.4 without TLS.
    pub fn new(address: impl Into<String>, system_id: &str, password: &str) -> SmppTarget {
        SmppTarget {
            address: address.into(),
            system_id: system_id.to_owned(),
            password: password.to_owned(),
            system_type: String::new(),
            version: SmppVersion::V34,
            tls: None,
        }
    }
}

impl fmt::Debug for SmppTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({} as {})", self.address, self.system_id)
    }
}

/// The trusted certificates and the server's name.
#[derive(Clone)]
pub struct TlsTrust {
    config: Arc<rustls::ClientConfig>,
    name: ServerName<'static>,
}

impl TlsTrust {
    /// Reads authorities, or a self-signed certificate, from PEM.
    pub fn from_pem(certificates: &[u8], name: &str) -> io::Result<TlsTrust> {
        let invalid = |error: &dyn fmt::Display| {
            let sentence = format!("invalid certificate or name: {error}");
            io::Error::new(io::ErrorKind::InvalidInput, sentence)
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(certificates) {
            let certificate = certificate.map_err(|error| invalid(&error))?;
            roots.add(certificate).map_err(|error| invalid(&error))?;
        }
        if roots.is_empty() {
            return Err(invalid(&"the file contains no certificate"));
        }
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).map_err(|error| invalid(&error))?;
        Ok(TlsTrust { config: Arc::new(config), name })
    }
}

/// Why a bind failed.
#[derive(Debug, Error)]
pub enum BindError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("the TLS handshake failed: {0}")]
    Tls(io::Error),
    #[error("connecting timed out after {} s", CONNECT_MAX.as_secs())]
    ConnectTimeout,
    #[error("invalid bind: {0}")]
    Invalid(#[from] EncodeError),
    #[error("bind rejected with {0}")]
    Rejected(CommandStatus),
    #[error("{0}")]
    Closed(CloseReason),
}

impl SmppTarget {
    /// Connects, binds and waits for the response.
    pub(crate) async fn bind<T>(
        &self,
        kind: BindType,
        config: ClientConfig,
    ) -> Result<SessionDriver<T>, BindError> {
        let connecting = runtime::within(CONNECT_MAX, self.connect());
        let stream = connecting.await.map_err(|_| BindError::ConnectTimeout)??;
        let mut request = BindRequest::new(kind, self.system_id.as_bytes(), self.password.as_bytes())
            .with_version(version_octet(self.version));
        request.bind.system_type = self.system_type.as_bytes();
        let session = Session::client(config, &request, Moment(0))?;
        let mut driver = SessionDriver::new(stream, session);
        loop {
            let moment = driver.tick(runtime::now());
            match driver.session.next_event(moment) {
                Some(SessionEvent::Bound { .. }) => return Ok(driver),
                Some(SessionEvent::BindRejected(status)) => return Err(BindError::Rejected(status)),
                Some(SessionEvent::Closed(reason)) => return Err(BindError::Closed(reason)),
                // No other event precedes the bind response.
                Some(_) => {}
                None => driver.exchange().await,
            }
        }
    }

    async fn connect(&self) -> Result<Box<dyn ByteStream>, BindError> {
        let stream = TcpStream::connect(&self.address).await.map_err(BindError::Connect)?;
        stream.set_nodelay(true).map_err(BindError::Connect)?;
        let Some(TlsTrust { config, name }) = &self.tls else { return Ok(Box::new(stream)) };
        let connector = TlsConnector::from(Arc::clone(config));
        let stream = connector.connect(name.clone(), stream).await.map_err(BindError::Tls)?;
        Ok(Box::new(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_does_not_print_its_password() {
        let target = SmppTarget::new("127.0.0.1:2775", "acme", "s3cret");
        assert_eq!(format!("{target:?}"), "Target(127.0.0.1:2775 as acme)");
    }

    #[test]
    fn pem_without_a_certificate_is_rejected() {
        let refused = TlsTrust::from_pem(b"nothing", "localhost").err().map(|error| error.to_string());
        let sentence = "invalid certificate or name: the file contains no certificate";
        assert_eq!(refused.as_deref(), Some(sentence));
    }
}
