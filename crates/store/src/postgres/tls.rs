//! TLS to a PostgreSQL server, with `rustls`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Makes encrypted connections to servers whose certificates one of the authorities has signed.
#[derive(Clone)]
pub(crate) struct Encryption(TlsConnector);

/// Encrypts a connection to one server.
pub(crate) struct EncryptionTo {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// An encrypted connection.
pub(crate) struct EncryptedStream(tokio_rustls::client::TlsStream<Socket>);

impl Encryption {
    pub(crate) fn new(authorities: &Arc<RootCertStore>) -> Encryption {
        let config =
            ClientConfig::builder().with_root_certificates(authorities.clone()).with_no_client_auth();
        Encryption(TlsConnector::from(Arc::new(config)))
    }
}

impl MakeTlsConnect<Socket> for Encryption {
    type Stream = EncryptedStream;
    type TlsConnect = EncryptionTo;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<EncryptionTo> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(EncryptionTo { connector: self.0.clone(), name })
    }
}

impl TlsConnect<Socket> for EncryptionTo {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, socket).await.map(EncryptedStream) })
    }
}

impl TlsStream for EncryptedStream {
    /// None: the certificate is checked, so a password is given to no other server.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, octets)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
