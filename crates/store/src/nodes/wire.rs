//! The connection between two nodes: TLS 1.3 with certificates made for the occasion, and frames with a length before them.
//! Each side proves that it has the cluster's key, bound to this TLS session, before it believes anything: so a node needs no
//! certificate of its own, and a third party between the two is noticed.

use super::frames::{self, FRAME_MAX};
use super::outgoing::Outgoing;
use crate::backend::NodeKey;
use crate::error::StoreError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::{TlsAcceptor, TlsConnector};

const EXPORTER_LABEL: &[u8] = b"EXPORTER-hermod-nodes";
const PROOF_OCTETS: usize = 32;
/// How often a side says that it is there.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A side that says nothing for so long, or takes nothing, is given up.
const SILENCE_MAX: Duration = Duration::from_secs(4);

/// Which side of the connection proves something.
#[derive(Clone, Copy)]
enum Side {
    Caller,
    Engine,
}

/// Makes and accepts connections to other nodes.
pub(crate) struct NodeConnector {
    key: NodeKey,
    connector: TlsConnector,
    acceptor: TlsAcceptor,
}

pub(crate) type Reading = BufReader<Box<dyn AsyncRead + Send + Unpin>>;
pub(crate) type Writing = BufWriter<Box<dyn AsyncWrite + Send + Unpin>>;

/// Octets that are read or written at once.
const BUFFER_BYTES: usize = 64 * 1024;

fn halves(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> (Reading, Writing) {
    let (reading, writing) = tokio::io::split(stream);
    (
        BufReader::with_capacity(BUFFER_BYTES, Box::new(reading)),
        BufWriter::with_capacity(BUFFER_BYTES, Box::new(writing)),
    )
}

impl NodeConnector {
    pub(crate) fn new(key: NodeKey) -> Result<NodeConnector, StoreError> {
        let failed = |error: &dyn std::fmt::Display| StoreError::Nodes(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let made = rcgen::generate_simple_self_signed(["hermod-node".to_owned()]);
        let made = made.map_err(|error| failed(&error))?;
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let tls13 = [&rustls::version::TLS13];
        let server = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&tls13)
            .map_err(|error| failed(&error))?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], private)
            .map_err(|error| failed(&error))?;
        let client = rustls::ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&tls13)
            .map_err(|error| failed(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        Ok(NodeConnector {
            key,
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        })
    }

    /// Connects to a node, and checks that it has the key.
    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<(Reading, Writing)> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let name = ServerName::try_from("hermod-node").expect("a valid name");
        let mut stream = self.connector.connect(name, socket).await?;
        let session = exported(stream.get_ref().1)?;
        stream.write_all(&self.proof(Side::Caller, &session)).await?;
        stream.flush().await?;
        self.check(&mut stream, Side::Engine, &session).await?;
        Ok(halves(stream))
    }

    /// Accepts a connection of a node, and checks that it has the key.
    pub(crate) async fn accept(&self, socket: TcpStream) -> io::Result<(Reading, Writing)> {
        socket.set_nodelay(true)?;
        let mut stream = self.acceptor.accept(socket).await?;
        let session = exported(stream.get_ref().1)?;
        self.check(&mut stream, Side::Caller, &session).await?;
        stream.write_all(&self.proof(Side::Engine, &session)).await?;
        stream.flush().await?;
        Ok(halves(stream))
    }

    fn mac(&self, side: Side, session: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key.0).expect("any key length");
        mac.update(match side {
            Side::Caller => b"caller",
            Side::Engine => b"engine",
        });
        mac.update(session);
        mac
    }

    fn proof(&self, side: Side, session: &[u8]) -> Vec<u8> {
        self.mac(side, session).finalize().into_bytes().to_vec()
    }

    async fn check(
        &self,
        stream: &mut (impl AsyncRead + Unpin),
        side: Side,
        session: &[u8],
    ) -> io::Result<()> {
        let mut proof = [0; PROOF_OCTETS];
        stream.read_exact(&mut proof).await?;
        self.mac(side, session).verify_slice(&proof).map_err(|_| {
            io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the other node has another key: all nodes need the same pepper",
            )
        })
    }
}

/// Returns what only the two ends of this TLS session know.
fn exported<D>(connection: &rustls::ConnectionCommon<D>) -> io::Result<[u8; 32]> {
    connection.export_keying_material([0; 32], EXPORTER_LABEL, None).map_err(io::Error::other)
}

/// Accepts any certificate: the proofs check the other side.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("only TLS 1.3 is used between nodes".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Writes a frame. It is sent with the next flush.
pub(crate) async fn write_frame(writing: &mut Writing, frame: &impl Serialize) -> io::Result<()> {
    let octets = frames::encode(frame).map_err(io::Error::other)?;
    write_encoded(writing, &octets).await
}

pub(crate) async fn write_encoded(writing: &mut Writing, octets: &[u8]) -> io::Result<()> {
    let length = u32::try_from(octets.len()).ok().filter(|_| octets.len() <= FRAME_MAX);
    let length = length.ok_or_else(|| io::Error::other("a frame to another node is too long"))?;
    writing.write_all(&length.to_be_bytes()).await?;
    writing.write_all(octets).await
}

/// Writes frames until the connection is closed or lost, and a ping where there is nothing else to say.
pub(crate) async fn write_frames(mut writing: Writing, outgoing: Arc<Outgoing>, ping: Vec<u8>) {
    loop {
        let frames = match within(PING_EVERY, outgoing.take()).await {
            Some(Some(frames)) => frames,
            Some(None) => break,
            None => vec![ping.clone()],
        };
        let written = async {
            for frame in &frames {
                write_encoded(&mut writing, frame).await?;
            }
            writing.flush().await
        };
        match within(SILENCE_MAX, written).await {
            Some(Ok(())) => {}
            Some(Err(_)) | None => break,
        }
    }
    outgoing.close();
    within(PING_EVERY, writing.shutdown()).await;
}

/// Reads the next frame. Fails if the other side says nothing for too long.
pub(crate) async fn read_next<T: DeserializeOwned>(
    reading: &mut Reading,
    buffer: &mut Vec<u8>,
) -> io::Result<T> {
    within(SILENCE_MAX, read_frame(reading, buffer)).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
}

/// Returns none if the work takes longer.
#[expect(clippy::disallowed_methods, reason = "a node that is silent is noticed in real time")]
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// Reads the next frame.
pub(crate) async fn read_frame<T: DeserializeOwned>(
    reading: &mut Reading,
    buffer: &mut Vec<u8>,
) -> io::Result<T> {
    read_octets(reading, buffer).await?;
    decoded(buffer)
}

pub(crate) fn decoded<T: DeserializeOwned>(octets: &[u8]) -> io::Result<T> {
    frames::decode(octets).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads the octets of the next frame.
pub(crate) async fn read_octets(reading: &mut Reading, buffer: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 4];
    reading.read_exact(&mut length).await?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > FRAME_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of another node is too long"));
    }
    buffer.resize(length, 0);
    reading.read_exact(buffer).await.map(drop)
}
