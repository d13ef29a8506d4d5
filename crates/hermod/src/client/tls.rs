//! Whom a command trusts over HTTPS: the certificate authorities of this machine, or those of one file.

use hermod_gateway::tls::authorities;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;

pub(super) struct Tls(TlsConnector);

impl Tls {
    pub(super) fn trusting(ca: Option<&Path>) -> Result<Tls, String> {
        let roots = authorities(ca)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the suites of TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    pub(super) async fn shake_hands(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
        self.0.connect(name, stream).await
    }
}
