//! TLS for customers: loads certificate and key from files, and reloads them when they change. The configuration is
//! replaced as a whole: a handshake uses the configuration it began with, and old sessions cannot be resumed. Also the
//! trusted authorities for outgoing connections.

mod authorities;
mod expiry;
mod pair;

pub use authorities::authorities;
pub use pair::{CertificateError, CertificateFiles};

use arc_swap::ArcSwap;
use hermod_domain::time::{Day, Timestamp};
use metrics::counter;
use pair::{Digest, Pair};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion, version};

/// How long before its expiry a certificate is warned about.
pub(crate) const EXPIRY_WARNING: Duration = Duration::from_secs(30 * 24 * 3600);

/// The newest first.
pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];

/// Returns the SHA-256 of a certificate in hexadecimal.
pub fn fingerprint_of(certificate: &CertificateDer<'_>) -> String {
    Sha256::digest(certificate).iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Returns the cryptography provider.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Returns the settings of connections to servers with certificates of these authorities.
pub(crate) fn client_config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&VERSIONS)
        .expect("ring has both versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A certificate in use, and the files it is reloaded from.
pub struct Tls {
    files: CertificateFiles,
    /// The ALPN protocols, preferred first.
    protocols: Vec<Vec<u8>>,
    config: ArcSwap<ServerConfig>,
    watched: Mutex<Watched>,
}

/// The result of the last check of the files.
#[derive(Default)]
struct Watched {
    /// The digest of the files, valid or not, so that the same error is logged once.
    digest: Option<Digest>,
    /// The expiry of the certificate in use; `None` if it could not be read.
    expires: Option<Timestamp>,
    /// The SHA-256 of the certificate in use.
    fingerprint: Option<String>,
    warned_on: Option<Day>,
}

/// The result of a check of the files.
#[derive(Debug)]
pub enum Look {
    Unchanged,
    Replaced,
    /// The files have changed but are invalid. The certificate in use stays.
    Kept(CertificateError),
}

impl Tls {
    /// Loads the pair. Blocking: reads two small files.
    pub fn load(
        files: CertificateFiles,
        protocols: &[&str],
        now: Timestamp,
    ) -> Result<Tls, CertificateError> {
        let protocols: Vec<Vec<u8>> = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let pair = Pair::read(&files)?;
        let config = pair.server_config(&files, &protocols)?;
        let tls = Tls { files, protocols, config: ArcSwap::from_pointee(config), watched: Mutex::default() };
        tls.taken(&pair, now);
        Ok(tls)
    }

    /// Returns an acceptor with the current certificate.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.load_full())
    }

    /// Returns the expiry of the certificate in use, if it could be read.
    pub fn expires(&self) -> Option<Timestamp> {
        self.watched.lock().expires
    }

    pub fn certificate_file(&self) -> &Path {
        &self.files.certificate
    }

    /// Returns the SHA-256 of the certificate in use in hexadecimal, for clients that pin it.
    pub fn fingerprint(&self) -> Option<String> {
        self.watched.lock().fingerprint.clone()
    }

    /// Reloads the files if they have changed, and logs the result.
    pub fn look(&self, now: Timestamp) -> Look {
        let look = match Pair::read(&self.files) {
            Ok(pair) if self.is_known(Some(pair.digest())) => Look::Unchanged,
            Ok(pair) => self.take(&pair, now),
            // Logged once, until the files can be read again.
            Err(_) if self.is_known(None) => Look::Unchanged,
            Err(error) => {
                self.remember(None);
                self.keep(error)
            }
        };
        self.warn_of_expiry(now);
        look
    }

    /// Reloads the files, changed or not.
    pub fn reload(&self, now: Timestamp) -> Look {
        self.watched.lock().warned_on = None;
        let look = match Pair::read(&self.files) {
            Ok(pair) => self.take(&pair, now),
            Err(error) => {
                self.remember(None);
                self.keep(error)
            }
        };
        self.warn_of_expiry(now);
        look
    }

    fn take(&self, pair: &Pair, now: Timestamp) -> Look {
        match pair.server_config(&self.files, &self.protocols) {
            Ok(config) => {
                self.config.store(Arc::new(config));
                self.taken(pair, now);
                counter!("hermod_tls_reloads_total", "outcome" => "replaced").increment(1);
                Look::Replaced
            }
            Err(error) => {
                self.remember(Some(pair.digest()));
                self.keep(error)
            }
        }
    }

    fn taken(&self, pair: &Pair, now: Timestamp) {
        let expires = pair.expires();
        let until = expires.map_or("an unknown time".to_owned(), |at| at.to_string());
        tracing::info!(certificate = %self.files.certificate.display(), "Certificate loaded, valid until {until}");
        let (digest, fingerprint) = (Some(pair.digest()), pair.fingerprint());
        *self.watched.lock() = Watched { digest, expires, fingerprint, warned_on: None };
        self.warn_of_expiry(now);
    }

    fn keep(&self, error: CertificateError) -> Look {
        counter!("hermod_tls_reloads_total", "outcome" => "kept").increment(1);
        tracing::error!("Could not reload the certificate, the current one stays in use: {error}");
        Look::Kept(error)
    }

    fn is_known(&self, digest: Option<Digest>) -> bool {
        self.watched.lock().digest == digest
    }

    fn remember(&self, digest: Option<Digest>) {
        self.watched.lock().digest = digest;
    }

    /// Warns once a day, from thirty days before the expiry on.
    fn warn_of_expiry(&self, now: Timestamp) {
        let mut watched = self.watched.lock();
        let Some(expires) = watched.expires else { return };
        if now.plus(EXPIRY_WARNING) < expires || watched.warned_on == Some(now.day()) {
            return;
        }
        watched.warned_on = Some(now.day());
        let certificate = self.files.certificate.display();
        if now < expires {
            tracing::warn!(%certificate, "The certificate expires on {expires}: replace it");
        } else {
            tracing::error!(%certificate, "The certificate expired on {expires}: clients reject it");
        }
    }
}

#[cfg(test)]
mod tests;
