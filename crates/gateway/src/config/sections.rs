//! The sections of the settings. Each component gets only its own.

use crate::config::store_address::StoreAddress;
use crate::config::values::{Bytes, IpNetwork, Period};
use crate::live_status::Severity;
use crate::tls::CertificateFiles;
use hermod_domain::webhook::url::AddressRules;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSection {
    pub folder: PathBuf,
    pub store: StoreAddress,
    /// Default: the environment variable `HERMOD_PEPPER`, or `pepper.key` in the folder.
    pub pepper_file: Option<PathBuf>,
    pub low_water: Bytes,
}

/// How this gateway is one of several nodes on a PostgreSQL server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSection {
    pub name: Option<String>,
    /// None: it is the only one.
    pub listen: Option<SocketAddr>,
    /// Default: the address of `listen`.
    pub address: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSection {
    pub listen: SocketAddr,
    pub allow_plain: bool,
    pub trusted_proxies: Vec<IpNetwork>,
    pub proxy_protocol_from: Vec<IpNetwork>,
    pub max_connections: u32,
    pub max_connections_per_address: u32,
    pub max_half_open_per_address: u32,
    pub max_body_memory: Bytes,
    pub failed_sign_ins: u32,
    pub head_timeout: Period,
    pub body_timeout: Period,
    pub idle_timeout: Period,
    pub drain_timeout: Period,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpsSection {
    pub listen: Option<SocketAddr>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub handshake_timeout: Period,
}

impl HttpsSection {
    /// Returns the listen address and certificate files, if configured.
    pub fn wanted(&self) -> Option<(SocketAddr, CertificateFiles)> {
        let HttpsSection { listen, certificate, key, handshake_timeout: _ } = self;
        let files = CertificateFiles { certificate: certificate.clone()?, key: key.clone()? };
        Some(((*listen)?, files))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmppSection {
    pub listen: SocketAddr,
    pub allow_plain: bool,
    pub tls_listen: Option<SocketAddr>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub trusted_proxies: Vec<IpNetwork>,
    pub system_id: String,
    pub max_sessions: u32,
    pub max_sessions_per_address: u32,
    pub max_half_open_per_address: u32,
    pub max_pdu: Bytes,
    pub bind_attempts: u32,
    pub bind_attempts_per_system_id: u32,
    pub handshake_timeout: Period,
    pub bind_timeout: Period,
    pub pdu_timeout: Period,
    pub idle_timeout: Period,
    pub response_timeout: Period,
    pub write_timeout: Period,
    pub unbind_timeout: Period,
}

impl SmppSection {
    /// Returns the listen address without TLS, if allowed.
    pub fn wanted_plain(&self) -> Option<SocketAddr> {
        self.allow_plain.then_some(self.listen)
    }

    /// Returns the listen address with TLS and the certificate files, if configured.
    pub fn wanted_tls(&self, https: &HttpsSection) -> Option<(SocketAddr, CertificateFiles)> {
        let certificate = self.certificate.clone().or_else(|| https.certificate.clone())?;
        let key = self.key.clone().or_else(|| https.key.clone())?;
        Some((self.tls_listen?, CertificateFiles { certificate, key }))
    }
}

/// How a gateway stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShutdownSection {
    pub announce: Period,
    pub linger: Period,
}

impl ShutdownSection {
    /// Stops without waiting for load balancers and customers.
    pub const AT_ONCE: ShutdownSection =
        ShutdownSection { announce: Period::from_secs(0), linger: Period::from_secs(0) };
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationsSection {
    pub listen: Option<SocketAddr>,
    /// None: plain HTTP.
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    /// Who may use the operator API there beside this machine; empty: as `from_anywhere` says.
    pub allow: Vec<IpNetwork>,
    pub account_metrics: bool,
}

impl OperationsSection {
    /// Returns the certificate files, if configured.
    pub fn certificate_files(&self) -> Option<CertificateFiles> {
        Some(CertificateFiles { certificate: self.certificate.clone()?, key: self.key.clone()? })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorSection {
    /// Default: the environment variable `HERMOD_OPERATOR_TOKEN`, or `operator.token` in the data folder.
    pub token_file: Option<PathBuf>,
    pub from_anywhere: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessagesSection {
    pub validity: Period,
    pub in_doubt_wait: Period,
}

/// What the gateway keeps for people who look something up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSection {
    pub enabled: bool,
}

/// The customers' web pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortalSection {
    pub enabled: bool,
    /// Default: the address of the HTTPS listener, or else of the HTTP listener.
    pub url: Option<String>,
}

/// The server that takes mails to users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSection {
    /// None: no mail is sent.
    pub server: Option<String>,
    /// Default: that of the TLS mode.
    pub port: Option<u16>,
    pub tls: MailTls,
    pub ca: Option<PathBuf>,
    pub user: Option<String>,
    /// Default: the environment variable `HERMOD_MAIL_PASSWORD`.
    pub password_file: Option<PathBuf>,
    pub sender: Option<String>,
}

/// How the connection to the mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// TLS from the first octet (RFC 8314), port 465.
    Implicit,
    /// The command STARTTLS, which must succeed, port 587.
    Starttls,
    /// Not at all, port 25.
    None,
}

impl MailTls {
    /// Returns the usual port.
    pub const fn port(self) -> u16 {
        match self {
            MailTls::Implicit => 465,
            MailTls::Starttls => 587,
            MailTls::None => 25,
        }
    }
}

/// How notifications about alarms are sent to the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmsSection {
    pub notify: NotifySection,
}

/// Where alarms are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifySection {
    /// Addresses; none: no mail is sent.
    pub mail: Vec<String>,
    /// None: nothing is posted.
    pub webhook: Option<String>,
    /// Default: the environment variable `HERMOD_ALARM_SECRET`.
    pub secret_file: Option<PathBuf>,
    /// A program and its arguments; empty: none is run.
    pub command: Vec<String>,
    /// The same alarm is not sent again before this time is over.
    pub quiet: Period,
    /// The least severity that is sent.
    pub least: Severity,
}

impl NotifySection {
    /// Whether alarms are sent at all.
    pub fn is_wanted(&self) -> bool {
        !self.mail.is_empty() || self.webhook.is_some() || !self.command.is_empty()
    }
}

/// How long data is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionSection {
    pub text: Period,
    pub messages: Period,
    /// Default: same as `messages`.
    pub idempotency_keys: Option<Period>,
    pub inbound: Period,
    pub requests: Period,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhooksSection {
    pub allow_http: bool,
    pub allow: Vec<IpNetwork>,
    pub ca: Option<PathBuf>,
    pub connect_timeout: Period,
    pub timeout: Period,
    pub retries: Vec<Period>,
    pub max_posts: u32,
}

impl WebhooksSection {
    /// Returns the rules for webhook addresses.
    pub fn rules(&self) -> AddressRules {
        let allow = self.allow.iter().map(|IpNetwork(network)| *network).collect();
        AddressRules { allow_http: self.allow_http, allow }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSection {
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
pub struct ProvisionSection {
    pub file: Option<PathBuf>,
}
