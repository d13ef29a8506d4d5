//! From a customer's address to a connection: every address that its name has is judged before any is dialled, those that
//! were judged are dialled and nothing else, and all of it has one deadline.

use super::Client;
use crate::clock::Moment;
use crate::stream::Stream;
use crate::tls;
use hermod_domain::webhook::address::{Host, WebhookUrl};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Addresses of one name that are tried. They share the time there is for connecting.
const ADDRESSES_MAX: usize = 4;
/// Unacknowledged data for this long means the peer is gone.
const USER_TIMEOUT: Duration = Duration::from_secs(15);

impl Client {
    /// Connects within the time there is for it. What went wrong is a sentence for people.
    pub(super) async fn dial(&self, url: &WebhookUrl, doubtful: bool) -> Result<Stream, String> {
        let until = self.clock.moment().plus(self.connect_max);
        tokio::select! {
            dialled = self.dial_until(url, doubtful, until) => dialled,
            () = self.clock.sleep_until(until) => {
                Err(format!("no connection to {} within {} s", url.authority, self.connect_max.as_secs_f32()))
            }
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

    /// All addresses of a host, every one of them judged: who mixes one of ours among its own gets nothing.
    async fn addresses_of(&self, host: &Host, doubtful: bool) -> Result<Vec<IpAddr>, String> {
        let found = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let found = self.resolver.look_up(name, doubtful).await;
                found.map_err(|error| format!("the name {name} cannot be looked up: {error}"))?
            }
        };
        if found.is_empty() {
            return Err("the name has no address".to_owned());
        }
        for address in &found {
            self.rules.judge_address(*address).map_err(|refusal| refusal.to_string())?;
        }
        Ok(found)
    }

    async fn connect(
        &self,
        addresses: &[IpAddr],
        url: &WebhookUrl,
        until: Moment,
    ) -> Result<TcpStream, String> {
        let mut failed = String::new();
        let count = addresses.len().min(ADDRESSES_MAX);
        for (place, address) in addresses.iter().take(count).enumerate() {
            // Whatever happens above, nothing is dialled that this line has not seen.
            self.rules.judge_address(*address).map_err(|refusal| refusal.to_string())?;
            // One that swallows everything must not take the time of those behind it.
            let share = share_of(self.clock.moment(), until, count - place);
            failed = tokio::select! {
                connected = TcpStream::connect(SocketAddr::new(*address, url.port)) => match connected.and_then(tune) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => format!("{} cannot be reached: {error}", url.authority),
                },
                () = self.clock.sleep(share) => {
                    format!("no connection to {} within {} s", url.authority, self.connect_max.as_secs_f32())
                }
            };
        }
        Err(failed)
    }

    /// Made when it is first needed: reading a machine's authorities takes a while. What could not be read then is read at
    /// the next dial.
    async fn tls(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(made) = self.tls.get() {
            return Ok(made.clone());
        }
        let ca = self.ca.clone();
        let read = tokio::task::spawn_blocking(move || Authorities::read(ca.as_deref())).await;
        let read = read.map_err(|error| error.to_string()).and_then(|read| read);
        let Authorities { roots, all } = read.map_err(|fault| {
            tracing::error!("Webhooks over TLS cannot be posted, their receivers cannot be checked: {fault}");
            "this gateway cannot read the certificate authorities that it checks receivers by".to_owned()
        })?;
        let config = ClientConfig::builder_with_provider(tls::provider())
            .with_protocol_versions(&tls::VERSIONS)
            .expect("ring has both versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let config = Arc::new(config);
        if all {
            // Whoever was first made the same.
            let _ = self.tls.set(config.clone());
        }
        Ok(config)
    }
}

/// Whose certificates are believed.
struct Authorities {
    roots: RootCertStore,
    /// Nothing was missing.
    all: bool,
}

impl Authorities {
    /// This machine's and those of the file. A file that is named must be there; with one, the machine need not have any.
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
                tracing::debug!("Only the authorities of {} are believed: {fault}", file.display());
                false
            }
        };
        Ok(Authorities { roots, all })
    }
}

fn share_of(now: Moment, until: Moment, among: usize) -> Duration {
    let left = Duration::from_millis(until.0.saturating_sub(now.0));
    left / u32::try_from(among).unwrap_or(u32::MAX).max(1)
}

fn tune(stream: TcpStream) -> std::io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let timeout = u32::try_from(USER_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&stream, timeout)?;
    Ok(stream)
}
