//! The sections of the settings. Each part of the program is handed its own and never sees the others.

use crate::config::values::{Bytes, Network, Period};
use crate::tls::CertificateFiles;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub folder: PathBuf,
    pub low_water: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    pub listen: SocketAddr,
    pub allow_plain: bool,
    pub trusted_proxies: Vec<Network>,
    pub max_connections: u32,
    pub max_connections_per_address: u32,
    pub failed_sign_ins: u32,
    pub head_timeout: Period,
    pub body_timeout: Period,
    pub idle_timeout: Period,
    pub drain_timeout: Period,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Https {
    pub listen: Option<SocketAddr>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub handshake_timeout: Period,
}

impl Https {
    /// Where to listen and with what, if at all.
    pub fn wanted(&self) -> Option<(SocketAddr, CertificateFiles)> {
        let Https { listen, certificate, key, handshake_timeout: _ } = self;
        let files = CertificateFiles { certificate: certificate.clone()?, key: key.clone()? };
        Some(((*listen)?, files))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    pub listen: Option<SocketAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    pub token_file: Option<PathBuf>,
    pub from_anywhere: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    pub validity: Period,
    pub in_doubt_wait: Period,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    pub level: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Human,
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provision {
    pub file: Option<PathBuf>,
}
