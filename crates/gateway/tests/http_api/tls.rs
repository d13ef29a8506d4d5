//! The HTTP API over TLS: versions, certificate reload, handshake
//! timeouts.

use crate::client::{Client, PATIENCE};
use crate::fixture::{Opening, Service};
use crate::test_customers::ACME;
use hermod_domain::time::Timestamp;
use hermod_gateway::http::Security;
use hermod_gateway::tls::{CertificateFiles, Look, Tls};
use rcgen::{CertificateParams, KeyPair};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion};

const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;
const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

/// A service over TLS and the folder of its certificate.
pub(crate) struct Secured {
    pub(crate) service: Service,
    tls: Arc<Tls>,
    folder: TempDir,
    /// The current certificate in the folder.
    certificate: CertificateDer<'static>,
}

fn write_pair(folder: &Path) -> CertificateDer<'static> {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    std::fs::write(folder.join("chain.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    certificate.der().clone()
}

impl Secured {
    /// Serves HTTP/1.1 only.
    async fn start() -> Secured {
        Secured::start_with(&["http/1.1"]).await
    }

    /// Serves these protocols.
    pub(crate) async fn start_with(protocols: &[&str]) -> Secured {
        Secured::open(protocols, Opening::default()).await
    }

    /// Serves these protocols with other settings.
    pub(crate) async fn open(protocols: &[&str], opening: Opening) -> Secured {
        let folder = tempfile::tempdir().unwrap();
        let certificate = write_pair(folder.path());
        let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
        let files = CertificateFiles { certificate: chain, key };
        let tls = Arc::new(Tls::load(files, protocols, NOW).unwrap());
        let opening = Opening { security: Security::Tls(tls.clone()), ..opening };
        Secured { service: Service::open(opening).await, tls, folder, certificate }
    }

    fn replace_certificate(&mut self) -> Look {
        self.certificate = write_pair(self.folder.path());
        self.tls.look(NOW)
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::on(self.handshake(&[&TLS13, &TLS12]).await.unwrap())
    }

    /// Connects as a client that trusts only this certificate.
    pub(crate) async fn handshake(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        self.handshake_on(TcpStream::connect(self.service.address).await.unwrap(), versions).await
    }

    /// As `handshake`, on an open TCP connection.
    pub(crate) async fn handshake_on(
        &self,
        stream: TcpStream,
        versions: &[&'static SupportedProtocolVersion],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    async fn assert_still_serving(&self) {
        assert_eq!(self.connect().await.get(ACME, "/api/v1/balance").await.status, 200);
    }
}

#[tokio::test]
async fn tls_1_2_and_1_3_serve_the_api_over_http_1_1() {
    let secured = Secured::start().await;
    for (version, expect) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
        let stream = secured.handshake(&[version]).await.unwrap();
        let (_, session) = stream.get_ref();
        assert_eq!(session.protocol_version(), Some(expect));
        assert_eq!(session.alpn_protocol(), Some(b"http/1.1".as_slice()));
        let mut client = Client::on(stream);
        assert_eq!(client.send(ACME, &[], SEND).await.status, 202);
        assert_eq!(client.get(ACME, "/api/v1/balance").await.status, 200);
    }
}

#[tokio::test]
async fn tls_version_before_1_2_is_rejected_with_an_alert() {
    let secured = Secured::start().await;
    // Fatal, protocol_version (RFC 5246 section 7.2); the same hello with TLS 1.2 is answered.
    for (minor, record, content) in [(1, 21, [2, 70]), (2, 21, [2, 70]), (3, 22, [2, 0])] {
        let mut client = secured.service.client().await;
        client.write(client_hello(minor)).await;
        let answer = client.read_bytes(7).await;
        assert_eq!((answer[0], &answer[5..]), (record, content.as_slice()), "3.{minor}");
    }
    secured.assert_still_serving().await;
}

/// Returns a ClientHello with the maximum version 3.`minor`, which current libraries no longer send.
fn client_hello(minor: u8) -> Vec<u8> {
    let mut hello = vec![3, minor];
    hello.extend([7; 32]);
    // No session, one cipher suite (ECDHE-ECDSA with AES-128-GCM), no compression.
    hello.extend([0, 0, 2, 0xc0, 0x2b, 1, 0]);
    // Extensions: P-256, uncompressed points, ECDSA with SHA-256.
    hello.extend([0, 22, 0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0, 0, 13, 0, 4, 0, 2, 4, 3]);
    let length = u8::try_from(hello.len()).unwrap();
    let handshake = [&[1, 0, 0, length], hello.as_slice()].concat();
    [&[22, 3, 1, 0, length + 4], handshake.as_slice()].concat()
}

#[tokio::test]
async fn plain_bytes_on_the_tls_port_close_only_their_connection() {
    let secured = Secured::start().await;
    let mut served = secured.connect().await;
    for bytes in
        [&b"GET /api/v1/balance HTTP/1.1\r\nHost: t\r\n\r\n"[..], b"\0", b"\x16\x03\x01\xff\xff", b""]
    {
        let mut client = secured.service.client().await;
        client.write(bytes).await;
        client.finish_writing().await;
        assert!(client.read_to_end().await.len() <= 7, "only an alert is sent");
    }
    assert_eq!(served.get(ACME, "/api/v1/balance").await.status, 200);
    secured.assert_still_serving().await;
}

#[tokio::test]
async fn client_without_a_handshake_in_time_is_closed_and_does_not_delay_others() {
    let secured = Secured::start().await;
    let mut silent = secured.service.client().await;
    let mut halting = secured.service.client().await;
    halting.write(&client_hello(3)[..20]).await;
    // Both handshakes are incomplete, and others are served.
    secured.assert_still_serving().await;
    let mut seconds = 0;
    while !silent.closes_within(Duration::from_millis(20)).await {
        halting.write_while_open(&[7]).await;
        secured.service.gateway.clock.advance(Duration::from_secs(1));
        seconds += 1;
        assert!(seconds < 60, "still open");
    }
    assert!((10..20).contains(&seconds), "cut off after {seconds} s of the 10 it has");
    assert!(halting.closes_within(PATIENCE).await, "trickled bytes do not extend the timeout");
    secured.assert_still_serving().await;
}

#[tokio::test]
async fn new_certificate_is_used_for_new_handshakes() {
    let mut secured = Secured::start().await;
    let mut before = secured.connect().await;
    assert_eq!(before.get(ACME, "/api/v1/balance").await.status, 200);
    let old = secured.certificate.clone();
    assert!(matches!(secured.replace_certificate(), Look::Replaced));
    // A client that trusts only the new certificate connects; open connections stay.
    secured.assert_still_serving().await;
    assert_eq!(before.get(ACME, "/api/v1/balance").await.status, 200);

    let new = std::mem::replace(&mut secured.certificate, old);
    assert!(secured.handshake(&[&TLS13]).await.is_err(), "the old certificate is no longer used");
    secured.certificate = new;

    // An invalid pair changes nothing.
    std::fs::write(secured.folder.path().join("key.pem"), "nothing").unwrap();
    assert!(matches!(secured.tls.look(NOW), Look::Kept(_)));
    secured.assert_still_serving().await;
}

#[tokio::test]
async fn certificate_reload_under_load_fails_no_handshake() {
    let mut secured = Secured::start().await;
    for _ in 0..20 {
        // Handshakes begin before the reload and end after it.
        let mut calls = Vec::new();
        for _ in 0..4 {
            calls.push(secured.connect().await);
        }
        assert!(matches!(secured.replace_certificate(), Look::Replaced));
        for call in &mut calls {
            assert_eq!(call.get(ACME, "/api/v1/balance").await.status, 200);
        }
    }
}

#[tokio::test]
async fn stop_does_not_wait_for_a_handshake() {
    let secured = Secured::start().await;
    let mut silent = secured.service.client().await;
    secured.assert_still_serving().await;
    secured.service.workers.stop().await;
    assert!(silent.is_closed().await);
}
