//! Whom a command trusts over HTTPS: the certificate authorities of this machine, or those of one file.

use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(super) struct Tls(TlsConnector);

impl Tls {
    pub(super) fn trusting(ca: Option<&Path>) -> Result<Tls, String> {
        let roots = match ca {
            Some(file) => roots_of(file)?,
            None => roots_of_this_machine()?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the suites of TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    pub(super) async fn shake_hands(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

fn roots_of(file: &Path) -> Result<RootCertStore, String> {
    let about = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read(file).map_err(|error| about(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| about(&error))?;
        roots.add(certificate).map_err(|error| about(&error))?;
    }
    if roots.is_empty() {
        return Err(about(&"there is no certificate in it"));
    }
    Ok(roots)
}

fn roots_of_this_machine() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // One that cannot be read is one less to trust; the others still count.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err("this machine trusts no certificate authority: install ca-certificates, or name one with --ca FILE"
            .to_owned());
    }
    Ok(roots)
}
