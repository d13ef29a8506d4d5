//! Reads a certificate chain and its private key from PEM files.

use super::expiry;
use hermod_domain::time::Timestamp;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// The largest file. A chain has a few kilobytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The files of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The server certificate first, then its issuers.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// An invalid file, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {sentence}", path.display())]
pub struct CertificateError {
    pub path: PathBuf,
    pub sentence: String,
}

pub(super) type Digest = [u8; 32];

/// The content of both files, not parsed yet.
pub(super) struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Never prints the key.
impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pair(…)")
    }
}

impl Pair {
    pub(super) fn read(files: &CertificateFiles) -> Result<Pair, CertificateError> {
        let CertificateFiles { certificate, key } = files;
        Ok(Pair { certificate: read(certificate)?, key: read(key)? })
    }

    pub(super) fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(Sha256::digest(&self.certificate));
        hash.update(Sha256::digest(&self.key));
        hash.finalize().into()
    }

    /// Returns the expiry of the server certificate, if it can be read.
    pub(super) fn expires(&self) -> Option<Timestamp> {
        let own = CertificateDer::pem_slice_iter(&self.certificate).next()?.ok()?;
        expiry::not_after(&own)
    }

    /// Returns the SHA-256 of the server certificate in hexadecimal.
    pub(super) fn fingerprint(&self) -> Option<String> {
        let own = CertificateDer::pem_slice_iter(&self.certificate).next()?.ok()?;
        Some(super::fingerprint_of(&own))
    }

    /// Makes a server configuration: TLS 1.2 and 1.3, no client certificates, and these ALPN protocols.
    pub(super) fn server_config(
        &self,
        files: &CertificateFiles,
        protocols: &[Vec<u8>],
    ) -> Result<ServerConfig, CertificateError> {
        let CertificateFiles { certificate, key } = files;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| blame(certificate, format!("is not PEM: {error}")))?;
        if chain.is_empty() {
            return Err(blame(certificate, "has no certificate in it (BEGIN CERTIFICATE)".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|error| blame(key, format!("has no private key in it (BEGIN PRIVATE KEY): {error}")))?;
        let mut config = ServerConfig::builder_with_provider(super::provider())
            .with_protocol_versions(&super::VERSIONS)
            .expect("ring has both versions")
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| judge(files, &error))?;
        config.alpn_protocols = protocols.to_vec();
        Ok(config)
    }
}

fn judge(files: &CertificateFiles, error: &rustls::Error) -> CertificateError {
    let CertificateFiles { certificate, key } = files;
    match error {
        rustls::Error::InconsistentKeys(_) => {
            blame(key, format!("is not the key of the certificate in {}", certificate.display()))
        }
        rustls::Error::InvalidCertificate(reason) => blame(certificate, format!("cannot be used: {reason}")),
        other => blame(key, format!("cannot be used: {other}")),
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let unreadable = |error: std::io::Error| blame(path, format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(blame(path, format!("has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn blame(path: &Path, sentence: String) -> CertificateError {
    CertificateError { path: path.to_owned(), sentence }
}
