//! Connects to a webhook URL: resolves the host, checks every address against the rules before connecting to any (SSRF
//! protection), and performs the TLS handshake, all within one timeout.

use super::WebhookClient;
use crate::clock::Moment;
use crate::stream::{Stream, connect_any};
use crate::tls;
use hermod_domain::webhook::url::{Host, UrlRefusal, WebhookUrl};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Addresses of one host that are tried. They share the connect timeout.
const ADDRESSES_MAX: usize = 4;
/// After this long without a TCP acknowledgement the kernel drops the connection.
const USER_TIMEOUT: Duration = Duration::from_secs(15);

impl WebhookClient {
    /// Connects within the timeout. The error is a sentence for the operator.
    pub(super) async fn dial(&self, url: &WebhookUrl, doubtful: bool) -> Result<Stream, String> {
        let until = self.clock.moment().plus(self.connect_max);
        tokio::select! {
            dialled = self.dial_until(url, doubtful, until) => dialled,
            () = self.clock.sleep_until(until) => Err(self.late(url)),
        }
    }

    async fn dial_until(&self, url: &WebhookUrl, doubtful: bool, until: Moment) -> Result<Stream, String> {
        let addresses = self.addresses_of(&url.host, doubtful).await?;
        let tls = if url.tls { Some(self.tls().await?) } else { None };
        let tcp = self.connect(&addresses, url, until).await?;
        let Some(tls) = tls else { return Ok(Stream::plain(tcp)) };
        let name = match &url.host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| error.to_string())?,
            Host::Address(address) => ServerName::IpAddress((*address).into()),
        };
        let shaken = TlsConnector::from(tls).connect(name, tcp).await;
        shaken
            .map(Stream::tls)
            .map_err(|error| format!("the TLS handshake with {} failed: {error}", url.authority))
    }

    /// Resolves a host.
    async fn addresses_of(&self, host: &Host, doubtful: bool) -> Result<Vec<IpAddr>, String> {
        let found = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let found = self.resolver.look_up(name, doubtful).await;
                found.map_err(|error| format!("could not resolve {name}: {error}"))?
            }
        };
        if found.is_empty() {
            return Err("the name has no address".to_owned());
        }
        Ok(found)
    }

    /// Fails if any of the addresses is forbidden. No other code connects.
    async fn connect(
        &self,
        addresses: &[IpAddr],
        url: &WebhookUrl,
        until: Moment,
    ) -> Result<TcpStream, String> {
        for address in addresses {
            self.rules.check_address(*address).map_err(|refusal| forbidden(&url.host, refusal))?;
        }
        let tried = addresses.iter().take(ADDRESSES_MAX).map(|address| SocketAddr::new(*address, url.port));
        let tried: Vec<SocketAddr> = tried.collect();
        let connected = connect_any(&self.clock, &tried, until, USER_TIMEOUT).await;
        connected.map_err(|failed| match failed {
            Some(error) => format!("{} cannot be reached: {error}", url.authority),
            None => self.late(url),
        })
    }

    fn late(&self, url: &WebhookUrl) -> String {
        format!("connecting to {} timed out after {} s", url.authority, self.connect_max.as_secs_f32())
    }

    /// Returns the TLS configuration, made on first use because reading the authorities is slow. A failure is retried
    /// at the next connection.
    async fn tls(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(made) = self.tls.get() {
            return Ok(made.clone());
        }
        let ca = self.ca.clone();
        let read = tokio::task::spawn_blocking(move || Authorities::read(ca.as_deref())).await;
        let read = read.map_err(|error| error.to_string()).and_then(|read| read);
        let Authorities { roots, all } = read.map_err(|fault| {
            tracing::error!(
                "Could not read the certificate authorities; webhooks over TLS cannot be posted: {fault}"
            );
            "the gateway cannot read its certificate authorities".to_owned()
        })?;
        let config = Arc::new(tls::client_config(roots));
        if all {
            // A concurrent call may have set the same.
            let _ = self.tls.set(config.clone());
        }
        Ok(config)
    }
}

/// Returns the sentence about a forbidden address. The customer reads it, so it does not tell what a name means inside our
/// network.
fn forbidden(host: &Host, refusal: UrlRefusal) -> String {
    match host {
        Host::Address(_) => refusal.to_string(),
        Host::Name(name) => {
            tracing::debug!(name, %refusal, "Webhook not posted");
            format!("{name} resolves to an address that must not be called")
        }
    }
}

/// The trusted certificate authorities.
struct Authorities {
    roots: RootCertStore,
    /// All sources were read.
    all: bool,
}

impl Authorities {
    /// Reads the machine's authorities and those of the file. A configured file must exist; then the machine need not
    /// have any.
    fn read(file: Option<&Path>) -> Result<Authorities, String> {
        let Some(file) = file else {
            return Ok(Authorities { roots: tls::authorities(None)?, all: true });
        };
        let mut roots = tls::authorities(Some(file))?;
        let all = match tls::authorities(None) {
            Ok(machines) => {
                roots.extend(machines.roots);
                true
            }
            Err(fault) => {
                tracing::debug!("Trusting only the authorities of {}: {fault}", file.display());
                false
            }
        };
        Ok(Authorities { roots, all })
    }
}
