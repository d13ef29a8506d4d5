//! TLS of the commands: which certificates they trust, and the handshake.

use hermod_gateway::tls::{authorities, fingerprint_of};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

/// Which server certificates are trusted.
pub(crate) enum Trust<'a> {
    /// Those signed by an authority of this machine, or of one file.
    Authorities(Option<&'a Path>),
    /// The one with this SHA-256, in hexadecimal.
    Fingerprint(&'a str),
    /// All.
    Any,
}

/// A TLS client.
pub(crate) struct ClientTls(TlsConnector);

impl ClientTls {
    pub(crate) fn new(trust: &Trust<'_>) -> Result<ClientTls, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("ring has the suites of TLS 1.2 and 1.3");
        let config = match trust {
            Trust::Authorities(ca) => builder.with_root_certificates(authorities(*ca)?).with_no_client_auth(),
            Trust::Fingerprint(expected) => {
                let expected = Some((*expected).to_owned());
                let check = Arc::new(CertificateCheck { expected, provider });
                builder.dangerous().with_custom_certificate_verifier(check).with_no_client_auth()
            }
            Trust::Any => {
                let check = Arc::new(CertificateCheck { expected: None, provider });
                builder.dangerous().with_custom_certificate_verifier(check).with_no_client_auth()
            }
        };
        Ok(ClientTls(TlsConnector::from(Arc::new(config))))
    }

    pub(crate) async fn handshake(&self, host: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

/// Accepts one certificate, or every one, if the server has its key.
#[derive(Debug)]
struct CertificateCheck {
    /// Its SHA-256. None: any.
    expected: Option<String>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.expected {
            Some(expected) if *expected != fingerprint_of(end_entity) => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
            Some(_) | None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
