//! Where binds go and with which credentials, and how one is opened.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::session::{BindRequest, ClientConfig, CloseReason};
use hermod_smpp::{BindType, CommandStatus, EncodeError, Event, Moment, Session, VERSION_3_3, VERSION_3_4};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, RootCertStore};

use crate::runtime;
use crate::session_driver::{ByteStream, SessionDriver};

/// Connecting, and the handshake of TLS, may take this long.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// Which SMPP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V3_3,
    V3_4,
}

impl Version {
    fn octet(self) -> u8 {
        match self {
            Version::V3_3 => VERSION_3_3,
            Version::V3_4 => VERSION_3_4,
        }
    }
}

/// A server, and who binds to it.
#[derive(Clone)]
pub struct Target {
    /// Host and port.
    pub address: String,
    pub system_id: String,
    pub password: String,
    pub system_type: String,
    pub version: Version,
    pub tls: Option<Trust>,
}

impl Target {
    /// A 3.4 server without TLS.
    pub fn new(address: impl Into<String>, system_id: &str, password: &str) -> Target {
        Target {
            address: address.into(),
            system_id: system_id.to_owned(),
            password: password.to_owned(),
            system_type: String::new(),
            version: Version::V3_4,
            tls: None,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({} as {})", self.address, self.system_id)
    }
}

/// Whose certificates are believed, and for which name.
#[derive(Clone)]
pub struct Trust {
    config: Arc<rustls::ClientConfig>,
    name: ServerName<'static>,
}

impl Trust {
    /// The authorities of a PEM file, or a self-signed certificate, and the name it is for.
    pub fn from_pem(certificates: &[u8], name: &str) -> io::Result<Trust> {
        let unusable = |error: &dyn fmt::Display| {
            let sentence = format!("certificate or name cannot be used: {error}");
            io::Error::new(io::ErrorKind::InvalidInput, sentence)
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(certificates) {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.is_empty() {
            return Err(unusable(&"there is no certificate in the file"));
        }
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).map_err(|error| unusable(&error))?;
        Ok(Trust { config: Arc::new(config), name })
    }
}

/// Why there is no bind.
#[derive(Debug, Error)]
pub enum BindError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no TLS: {0}")]
    Tls(io::Error),
    #[error("no connection within {} seconds", CONNECT_MAX.as_secs())]
    Slow,
    #[error("the bind cannot be written: {0}")]
    Unfit(#[from] EncodeError),
    #[error("the bind was refused with {0}")]
    Refused(CommandStatus),
    #[error("{0}")]
    Closed(CloseReason),
}

impl Target {
    /// Connects, binds and waits for the answer.
    pub(crate) async fn bind<T>(
        &self,
        kind: BindType,
        config: ClientConfig,
    ) -> Result<SessionDriver<T>, BindError> {
        let connecting = runtime::within(CONNECT_MAX, self.connect());
        let stream = connecting.await.map_err(|_| BindError::Slow)??;
        let mut request = BindRequest::new(kind, self.system_id.as_bytes(), self.password.as_bytes())
            .speaking(self.version.octet());
        request.bind.system_type = self.system_type.as_bytes();
        let born = runtime::now();
        let session = Session::client(config, &request, Moment(0))?;
        let mut line = SessionDriver::new(stream, session, born);
        loop {
            let moment = line.tick(runtime::now());
            match line.session.next_event(moment) {
                Some(Event::Bound { .. }) => return Ok(line),
                Some(Event::BindRefused(status)) => return Err(BindError::Refused(status)),
                Some(Event::Closed(reason)) => return Err(BindError::Closed(reason)),
                // Nothing else can happen before a bind.
                Some(_) => {}
                None => line.exchange().await,
            }
        }
    }

    async fn connect(&self) -> Result<Box<dyn ByteStream>, BindError> {
        let stream = TcpStream::connect(&self.address).await.map_err(BindError::Connect)?;
        stream.set_nodelay(true).map_err(BindError::Connect)?;
        let Some(Trust { config, name }) = &self.tls else { return Ok(Box::new(stream)) };
        let connector = TlsConnector::from(Arc::clone(config));
        let stream = connector.connect(name.clone(), stream).await.map_err(BindError::Tls)?;
        Ok(Box::new(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_never_prints_its_password() {
        let target = Target::new("127.0.0.1:2775", "acme", "s3cret");
        assert_eq!(format!("{target:?}"), "Target(127.0.0.1:2775 as acme)");
    }

    #[test]
    fn what_holds_no_certificate_is_refused() {
        let refused = Trust::from_pem(b"nothing", "localhost").err().map(|error| error.to_string());
        let sentence = "certificate or name cannot be used: there is no certificate in the file";
        assert_eq!(refused.as_deref(), Some(sentence));
    }
}
