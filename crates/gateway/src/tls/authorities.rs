//! The trusted certificate authorities for outgoing connections: this machine's, or those of a file.

use super::pair;
use std::path::Path;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

/// Returns the authorities in a PEM file, else those of this machine. Blocking: reads a few hundred kilobytes.
pub fn authorities(file: Option<&Path>) -> Result<RootCertStore, String> {
    match file {
        Some(file) => of_file(file),
        None => of_this_machine(),
    }
}

fn of_file(file: &Path) -> Result<RootCertStore, String> {
    let about = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = pair::read(file).map_err(|error| error.to_string())?;
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

fn of_this_machine() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Unreadable certificates are skipped.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(
            "this machine has no certificate authorities: install ca-certificates, or configure a file"
                .to_owned(),
        );
    }
    Ok(roots)
}
