//! The flags of SMPP clients: server, credentials, version and TLS.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hermod_simulator::load::smpp::{SmppTarget, SmppVersion, TlsTrust};

#[derive(Args)]
pub(crate) struct TargetFlags {
    /// Host and port of the server
    #[arg(long, default_value = "127.0.0.1:2775")]
    address: String,
    #[arg(long, default_value = "load")]
    system_id: String,
    /// At most 8 characters
    #[arg(long, default_value = "secret")]
    password: String,
    #[arg(long, default_value = "")]
    system_type: String,
    /// SMPP version
    #[arg(long, value_enum, default_value = "3.4", value_name = "VERSION")]
    smpp: VersionFlag,
    /// Use TLS and trust the certificates in this PEM file
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Name in the server's certificate
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    tls_name: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum VersionFlag {
    #[value(name = "3.3")]
    V3_3,
    #[value(name = "3.4")]
    V3_4,
}

impl TargetFlags {
    pub(crate) fn target(&self) -> Result<SmppTarget, String> {
        let mut target = SmppTarget::new(self.address.clone(), &self.system_id, &self.password);
        target.system_type.clone_from(&self.system_type);
        target.version = match self.smpp {
            VersionFlag::V3_3 => SmppVersion::V33,
            VersionFlag::V3_4 => SmppVersion::V34,
        };
        target.tls = self.tls_ca.as_deref().map(|path| trust(path, &self.tls_name)).transpose()?;
        Ok(target)
    }

    pub(crate) fn is_3_3(&self) -> bool {
        matches!(self.smpp, VersionFlag::V3_3)
    }
}

fn trust(path: &Path, name: &str) -> Result<TlsTrust, String> {
    let pem = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    TlsTrust::from_pem(&pem, name).map_err(|error| format!("{}: {error}", path.display()))
}
