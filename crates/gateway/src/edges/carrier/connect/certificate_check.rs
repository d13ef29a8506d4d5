//! Verifies a carrier's TLS certificate: signed by a certificate authority for its name, or pinned by
//! `tls.fingerprint`. The handshake signature proves possession of the key in both cases. Errors name the fingerprint
//! that was presented, so that the operator can pin it.

use crate::tls;
use hermod_domain::catalogue::CarrierTls;
use hermod_domain::hex::{from_hex, hex};
use sha2::{Digest, Sha256};
use std::io;
use std::sync::{Arc, OnceLock};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{self, CryptoProvider};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

type Fingerprint = [u8; 32];

/// Verifies the certificate of one handshake.
#[derive(Debug)]
pub(super) struct CertificateCheck {
    rule: Rule,
    provider: Arc<CryptoProvider>,
    presented: OnceLock<Presented>,
}

/// The certificate that the carrier presented.
#[derive(Debug)]
struct Presented {
    fingerprint: Fingerprint,
    /// The rule accepts the certificate. The handshake signature is checked separately.
    is_trusted: bool,
}

#[derive(Debug)]
enum Rule {
    Authorities(Arc<WebPkiServerVerifier>),
    Fingerprint(Fingerprint),
}

impl CertificateCheck {
    pub(super) fn by_authorities(authorities: RootCertStore) -> Result<CertificateCheck, String> {
        let provider = tls::provider();
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(authorities), provider.clone());
        let verifier = verifier.build().map_err(|error| format!("tls.ca: {error}"))?;
        Ok(CertificateCheck { rule: Rule::Authorities(verifier), provider, presented: OnceLock::new() })
    }

    /// Parses hexadecimal in either case; ignores the colons that most tools print between octets.
    pub(super) fn by_fingerprint(text: &str) -> Result<CertificateCheck, String> {
        let wanted = from_hex(&text.replace(':', "")).and_then(|octets| Fingerprint::try_from(octets).ok());
        let wanted = wanted.ok_or("invalid tls.fingerprint: expected a SHA-256 of 64 hexadecimal digits")?;
        Ok(CertificateCheck {
            rule: Rule::Fingerprint(wanted),
            provider: tls::provider(),
            presented: OnceLock::new(),
        })
    }

    /// Describes a failed handshake and what to do about it.
    pub(super) fn describe_failure(&self, error: &io::Error, settings: &CarrierTls) -> String {
        let Some(cause) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
            return match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                    "the carrier closed the connection during the TLS handshake; perhaps it does not use TLS on this port"
                        .to_owned()
                }
                _ => format!("the TLS handshake failed: {error}"),
            };
        };
        match cause {
            Error::InvalidCertificate(reason) => self.bad_certificate(reason, settings),
            Error::InvalidMessage(_) => {
                "the carrier does not use TLS on this port: use its TLS port, or remove tls from its settings"
                    .to_owned()
            }
            Error::PeerIncompatible(why) => {
                format!("the carrier supports no common variant of TLS 1.2 or 1.3: {why:?}")
            }
            Error::AlertReceived(alert) => format!("the carrier rejected the TLS handshake: {alert:?}"),
            other => format!("the TLS handshake failed: {other}"),
        }
    }

    fn bad_certificate(&self, reason: &CertificateError, settings: &CarrierTls) -> String {
        let is_trusted = self.presented.get().is_some_and(|seen| seen.is_trusted);
        let seen = self.presented.get().map_or_else(|| "unknown".to_owned(), |seen| hex(&seen.fingerprint));
        let pin = format!("set tls.fingerprint to {seen} if this is the carrier's own certificate");
        match reason {
            CertificateError::ApplicationVerificationFailure => format!(
                "the carrier's certificate does not match tls.fingerprint: set it to {seen} if the carrier has a new one"
            ),
            CertificateError::NotValidForNameContext { expected, presented } if !presented.is_empty() => {
                let names: Vec<&str> = presented.iter().map(|name| bare_name(name)).collect();
                format!(
                    "the carrier's certificate is for {}, not for {}: set tls.name to the name it should have",
                    names.join(", "),
                    expected.to_str()
                )
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("the carrier's certificate contains no host name: {pin}")
            }
            CertificateError::BadSignature if is_trusted => {
                "the server presents the carrier's certificate without having its key: this is not the carrier"
                    .to_owned()
            }
            // BadSignature here: the issuer has the name of a known authority but another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => match &settings.ca {
                Some(file) => format!(
                    "the carrier's certificate is signed by none of the authorities in {file}: correct tls.ca, or {pin}"
                ),
                None => format!(
                    "the carrier's certificate is signed by an authority this machine does not know: set tls.ca to a \
                     file with it, or {pin}"
                ),
            },
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("the carrier's certificate has expired: the carrier must renew it; until then, {pin}")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the carrier's certificate is not valid yet: is the clock of this machine right?".to_owned()
            }
            // Mostly self-signed certificates.
            other => format!("the carrier's certificate cannot be used ({other}): {pin}"),
        }
    }
}

/// webpki writes names as `DnsName("smsc.example")` and `IpAddress(192.0.2.1)`.
fn bare_name(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let fingerprint = Fingerprint::from(Sha256::digest(own));
        let verified = match &self.rule {
            Rule::Authorities(verifier) => verifier.verify_server_cert(own, intermediates, name, ocsp, now),
            Rule::Fingerprint(wanted) if *wanted == fingerprint => Ok(ServerCertVerified::assertion()),
            Rule::Fingerprint(_) => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
        };
        let _ = self.presented.set(Presented { fingerprint, is_trusted: verified.is_ok() });
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, own, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, own, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
#[path = "certificate_check_tests.rs"]
mod tests;
