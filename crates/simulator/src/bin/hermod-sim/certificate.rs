//! `hermod-sim certificate`: a self-signed certificate to try TLS with.

use std::path::PathBuf;

use clap::Args;
use rcgen::{CertificateParams, KeyPair};

use crate::{Ended, values};

/// Make a self-signed certificate and its key, to try TLS with
///
/// Writes certificate.pem and key.pem. A client that is given certificate.pem as its authority believes the server
/// that shows it. Not for real customers: nobody else does.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CertificateArgs {
    /// The folder to write to, made if it is not there
    folder: PathBuf,
    /// The name it is for
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
        let unusable = |error: rcgen::Error| format!("no certificate for {:?}: {error}", self.name);
        let key = KeyPair::generate().map_err(unusable)?;
        let params = CertificateParams::new(vec![self.name.clone()]).map_err(unusable)?;
        let certificate = params.self_signed(&key).map_err(unusable)?;
        let cannot = |error: std::io::Error| format!("cannot write to {}: {error}", self.folder.display());
        std::fs::create_dir_all(&self.folder).map_err(cannot)?;
        for (name, pem) in [("certificate.pem", certificate.pem()), ("key.pem", key.serialize_pem())] {
            let path = self.folder.join(name);
            std::fs::write(&path, pem).map_err(cannot)?;
            values::say(&path.display().to_string());
        }
        Ok(())
    }
}
