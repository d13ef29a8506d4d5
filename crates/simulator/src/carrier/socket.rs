//! The socket of a link, with or without TLS. Reads and writes never wait, so that a script can stop at any octet.

use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::BytesMut;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, ServerConnection};

/// Octets read at a time, about.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// A server certificate and its key.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<ServerConfig>);

impl ServerTls {
    /// Reads PEM: the server's certificate first, then its issuers.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> io::Result<ServerTls> {
        let unusable = |error: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("certificate or key cannot be used: {error}"))
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|e| unusable(&e))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| unusable(&error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| unusable(&error))?;
        Ok(ServerTls(Arc::new(config)))
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }
}

pub(super) struct LinkSocket {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
}

impl LinkSocket {
    pub(super) fn new(stream: TcpStream, tls: Option<&ServerTls>) -> io::Result<LinkSocket> {
        // Without the option the link works, only slower.
        let _ = stream.set_nodelay(true);
        let tls = match tls {
            Some(ServerTls(config)) => {
                Some(Box::new(ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?))
            }
            None => None,
        };
        Ok(LinkSocket { stream, tls })
    }

    pub(super) async fn ready(&self, interest: Interest) -> io::Result<()> {
        self.stream.ready(interest).await.map(|_| ())
    }

    /// Whether TLS has output of its own: handshake messages, or octets the socket did not accept yet.
    pub(super) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Reads what has arrived. Returns 0 at the end of the connection, or `WouldBlock`.
    pub(super) fn read(&mut self, input: &mut BytesMut) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            input.reserve(READ_BYTES);
            return self.stream.try_read_buf(input);
        };
        let before = input.len();
        let ended = loop {
            match tls.read_tls(&mut TlsIo(&self.stream)) {
                Ok(0) => break true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            let state = tls.process_new_packets().map_err(|error| {
                // Sends the TLS alert; the connection fails either way.
                let _ = tls.write_tls(&mut TlsIo(&self.stream));
                io::Error::new(io::ErrorKind::InvalidData, error)
            })?;
            let start = input.len();
            input.resize(start + state.plaintext_bytes_to_read(), 0);
            tls.reader().read_exact(&mut input[start..])?;
            if state.peer_has_closed() {
                break true;
            }
            if input.len() - before >= READ_BYTES {
                break false;
            }
        };
        match input.len() - before {
            0 if !ended => Err(io::ErrorKind::WouldBlock.into()),
            read => Ok(read),
        }
    }

    /// Writes what the socket accepts now. Returns the octets written, or `WouldBlock`.
    pub(super) fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.stream.try_write(octets) };
        let written = tls.writer().write(octets)?;
        self.flush()?;
        if written == 0 && !octets.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(written) }
    }

    /// Writes pending TLS records as far as the socket accepts them.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while let Some(tls) = &mut self.tls
            && tls.wants_write()
        {
            match tls.write_tls(&mut TlsIo(&self.stream)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                written => written?,
            };
        }
        Ok(())
    }

    /// Sends close_notify under TLS and shuts down the write side.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        self.flush()?;
        self.stream.shutdown().await
    }
}

/// The stream as `Read` and `Write`, for rustls.
struct TlsIo<'a>(&'a TcpStream);

impl Read for TlsIo<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(octets)
    }
}

impl Write for TlsIo<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.try_write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
