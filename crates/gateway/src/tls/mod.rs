//! TLS for customers: a certificate and its key, read from files, and read again when they change. What is in effect is
//! one immutable configuration that is swapped whole: a handshake begun before a change ends with what it began with,
//! and sessions of the old certificate cannot be resumed under the new one. And whom we believe when we call others.

mod authorities;
mod expiry;
mod pair;

pub use authorities::authorities;
pub use pair::{CertificateError, CertificateFiles};

use arc_swap::ArcSwap;
use hermod_domain::time::{Day, Timestamp};
use metrics::counter;
use pair::{Digest, Pair};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion, version};

/// Whoever renews certificates has this long from the first warning.
pub(crate) const EXPIRY_WARNING: Duration = Duration::from_secs(30 * 24 * 3600);

/// The newest first.
pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];

/// Who does the cryptography.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// A certificate in use, and where the next one will be found.
pub struct Tls {
    files: CertificateFiles,
    /// What is offered in the handshake, most wanted first.
    protocols: Vec<Vec<u8>>,
    config: ArcSwap<ServerConfig>,
    watched: Mutex<Watched>,
}

/// What the last looks at the files found.
struct Watched {
    /// Of what the files held then, good or not, so that the same fault is told once.
    digest: Option<Digest>,
    /// Of the certificate in use; `None` where it could not be read.
    expires: Option<Timestamp>,
    warned_on: Option<Day>,
}

/// What came of a look at the files.
#[derive(Debug)]
pub enum Look {
    Unchanged,
    Replaced,
    /// The files hold something else, but nothing that can be used. The certificate in use stays.
    Kept(CertificateError),
}

impl Tls {
    /// Reads the pair for the first time. Blocking, like every look: two small files.
    pub fn load(
        files: CertificateFiles,
        protocols: &[&str],
        now: Timestamp,
    ) -> Result<Tls, CertificateError> {
        let protocols: Vec<Vec<u8>> = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let pair = Pair::read(&files)?;
        let config = pair.server_config(&files, &protocols)?;
        let tls = Tls {
            files,
            protocols,
            config: ArcSwap::from_pointee(config),
            watched: Mutex::new(Watched { digest: None, expires: None, warned_on: None }),
        };
        tls.taken(&pair, now);
        Ok(tls)
    }

    /// For one handshake, with the certificate of this moment.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.load_full())
    }

    /// When the certificate in use ends, where that could be read.
    pub fn expires(&self) -> Option<Timestamp> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).expires
    }

    pub fn certificate_file(&self) -> &Path {
        &self.files.certificate
    }

    /// SHA-256 of the certificate in the files, for those who know a server by it.
    pub fn fingerprint(&self) -> Option<String> {
        Pair::read(&self.files).ok()?.fingerprint()
    }

    /// Takes what the files hold if it is another pair than before, and says so in the log.
    pub fn look(&self, now: Timestamp) -> Look {
        let look = match Pair::read(&self.files) {
            Ok(pair) if self.is_known(Some(pair.digest())) => Look::Unchanged,
            Ok(pair) => self.take(&pair, now),
            // ReportStatus once; then nothing is news until the files can be read again.
            Err(_) if self.is_known(None) => Look::Unchanged,
            Err(error) => {
                self.remember(None);
                self.keep(error)
            }
        };
        self.warn_of_expiry(now);
        look
    }

    /// Takes what the files hold, changed or not, because somebody asked for it.
    pub fn reload(&self, now: Timestamp) -> Look {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).warned_on = None;
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
        let told = expires.map_or("an unknown time".to_owned(), |at| at.to_string());
        tracing::info!(certificate = %self.files.certificate.display(), "The certificate in use is valid until {told}");
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) =
            Watched { digest: Some(pair.digest()), expires, warned_on: None };
        self.warn_of_expiry(now);
    }

    fn keep(&self, error: CertificateError) -> Look {
        counter!("hermod_tls_reloads_total", "outcome" => "kept").increment(1);
        tracing::error!("The certificate was not replaced, the one in use stays: {error}");
        Look::Kept(error)
    }

    fn is_known(&self, digest: Option<Digest>) -> bool {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).digest == digest
    }

    fn remember(&self, digest: Option<Digest>) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).digest = digest;
    }

    /// Once a day, from thirty days before the end on.
    fn warn_of_expiry(&self, now: Timestamp) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(expires) = watched.expires else { return };
        if now.plus(EXPIRY_WARNING) < expires || watched.warned_on == Some(now.day()) {
            return;
        }
        watched.warned_on = Some(now.day());
        let certificate = self.files.certificate.display();
        if now < expires {
            tracing::warn!(%certificate, "The certificate ends on {expires}: put a new one in its place");
        } else {
            tracing::error!(%certificate, "The certificate ended on {expires}: callers refuse it");
        }
    }
}

#[cfg(test)]
mod tests;
