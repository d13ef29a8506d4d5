//! The demo's self-signed certificate, made once and kept in the data folder. Clients trust it by its fingerprint.

use crate::failure::Failure;
use hermod_gateway::clock::Clock;
use hermod_gateway::tls::{CertificateFiles, Tls};
use rcgen::{CertificateParams, KeyPair};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const CERTIFICATE: &str = "demo-certificate.pem";
const KEY: &str = "demo-certificate.key";

pub(super) fn load_or_make(folder: &Path, clock: &Clock) -> Result<Tls, Failure> {
    let files = CertificateFiles { certificate: folder.join(CERTIFICATE), key: folder.join(KEY) };
    if !files.certificate.exists() || !files.key.exists() {
        make(&files).map_err(|error| Failure::failed(format!("{}: {error}", files.certificate.display())))?;
    }
    Tls::load(files, &[], clock.now()).map_err(Failure::usage)
}

fn make(files: &CertificateFiles) -> std::io::Result<()> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let key = KeyPair::generate().map_err(std::io::Error::other)?;
    let params = CertificateParams::new(names).map_err(std::io::Error::other)?;
    let certificate = params.self_signed(&key).map_err(std::io::Error::other)?;
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&files.key)?;
    file.write_all(key.serialize_pem().as_bytes())?;
    std::fs::write(&files.certificate, certificate.pem())
}
