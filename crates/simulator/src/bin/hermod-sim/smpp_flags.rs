//! The flags that all clients over SMPP have in common, and what they need of the system.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hermod_simulator::load::smpp::{Target, Trust, Version};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files beside the sockets: the runtime's, the terminal's, a log.
const FILES_BESIDE: u64 = 64;

#[derive(Args)]
pub(crate) struct TargetFlags {
    /// The server, as host and port
    #[arg(long, default_value = "127.0.0.1:2775")]
    address: String,
    /// Who binds
    #[arg(long, default_value = "load")]
    system_id: String,
    /// At most 8 characters
    #[arg(long, default_value = "secret")]
    password: String,
    #[arg(long, default_value = "")]
    system_type: String,
    /// The version of SMPP
    #[arg(long, value_enum, default_value = "3.4", value_name = "VERSION")]
    smpp: VersionFlag,
    /// Speak TLS and believe the certificates in this PEM file
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The name the server's certificate is for
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
    pub(crate) fn target(&self) -> Result<Target, String> {
        let mut target = Target::new(self.address.clone(), &self.system_id, &self.password);
        target.system_type.clone_from(&self.system_type);
        target.version = match self.smpp {
            VersionFlag::V3_3 => Version::V3_3,
            VersionFlag::V3_4 => Version::V3_4,
        };
        target.tls = self.tls_ca.as_deref().map(|path| trust(path, &self.tls_name)).transpose()?;
        Ok(target)
    }

    pub(crate) fn speaks_3_3(&self) -> bool {
        matches!(self.smpp, VersionFlag::V3_3)
    }
}

fn trust(path: &Path, name: &str) -> Result<Trust, String> {
    let pem = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Trust::from_pem(&pem, name).map_err(|error| format!("{}: {error}", path.display()))
}

/// Lets this process open as many sockets, as far as the system allows; a sentence where it does not.
pub(crate) fn allow_sockets(sockets: u64) -> Result<(), String> {
    let wanted = sockets.saturating_add(FILES_BESIDE);
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    let is_allowed = limit.maximum.is_none_or(|maximum| maximum >= wanted);
    if is_allowed && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let maximum = limit.maximum.unwrap_or_default();
    Err(format!(
        "{wanted} open files are needed and this system allows {maximum}: raise the hard limit (ulimit -Hn, \
         or LimitNOFILE= of the service), or ask for less"
    ))
}
