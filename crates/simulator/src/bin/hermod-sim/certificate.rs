//! `hermod-sim certificate`: a self-signed certificate for tests of TLS.

use std::path::PathBuf;

use clap::Args;
use rcgen::{CertificateParams, KeyPair};

use crate::{Ended, terminal};

/// Make a self-signed certificate and its key for tests of TLS
///
/// Writes certificate.pem and key.pem. Only clients that use certificate.pem as their certificate authority trust it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CertificateArgs {
    /// Folder to write to, created if it does not exist
    folder: PathBuf,
    /// Name in the certificate
    #[arg(long, default_value = "localhost")]
    name: String,
}

const EXAMPLES: &str = "\
Examples:
  hermod-sim certificate tls
  hermod-sim smpp-echo --tls-certificate tls/certificate.pem --tls-key tls/key.pem &
  hermod-sim smpp-load --tls-ca tls/certificate.pem --messages 1000";

impl CertificateArgs {
    pub(crate) fn run(self) -> Ended {
        let invalid = |error: rcgen::Error| format!("cannot make a certificate for {:?}: {error}", self.name);
        let key = KeyPair::generate().map_err(invalid)?;
        let params = CertificateParams::new(vec![self.name.clone()]).map_err(invalid)?;
        let certificate = params.self_signed(&key).map_err(invalid)?;
        let cannot = |error: std::io::Error| format!("cannot write to {}: {error}", self.folder.display());
        std::fs::create_dir_all(&self.folder).map_err(cannot)?;
        for (name, pem) in [("certificate.pem", certificate.pem()), ("key.pem", key.serialize_pem())] {
            let path = self.folder.join(name);
            std::fs::write(&path, pem).map_err(cannot)?;
            terminal::print(&path.display().to_string());
        }
        Ok(())
    }
}
