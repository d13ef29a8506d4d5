//! Tests of connecting to TLS and plain servers, over real sockets.

use super::*;
use hermod_domain::carrier::Profile;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{SupportedProtocolVersion, version};

/// An authority and its file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// The certificate and key of a test server.
struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: KeyPair,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { issuer: Issuer::new(params, key), folder }
    }

    fn file(&self) -> String {
        self.folder.path().join("ca.pem").display().to_string()
    }

    fn signs(&self, name: &str) -> Certificate {
        self.signs_until(name, 2090)
    }

    fn signs_until(&self, name: &str, year: i32) -> Certificate {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(year, 1, 1));
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        Certificate { chain: vec![signed.der().clone()], key }
    }
}

impl Certificate {
    fn by_itself(name: &str) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Certificate { chain: vec![params.self_signed(&key).unwrap().der().clone()], key }
    }

    fn fingerprint(&self) -> String {
        Sha256::digest(&self.chain[0]).iter().map(|octet| format!("{octet:02x}")).collect()
    }

    fn acceptor(&self, versions: &[&'static SupportedProtocolVersion]) -> TlsAcceptor {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(tls::provider())
            .with_protocol_versions(versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

fn carrier(port: u16, tls: Option<CarrierTls>) -> Carrier {
    Carrier {
        address: format!("127.0.0.1:{port}"),
        system_id: "hermod".to_owned(),
        password: "secret".to_owned(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 60_000,
        enquire_link_ms: 30_000,
        disabled: false,
        draining: None,
        tls,
        profile: Profile { bind_wait_ms: 5_000, ..Profile::default() },
    }
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Sends "hello" to a test server and returns the echo, or the connect error.
async fn exchange(
    certificate: &Certificate,
    versions: &[&'static SupportedProtocolVersion],
    tls: CarrierTls,
) -> String {
    let (listener, port) = listen().await;
    let acceptor = certificate.acceptor(versions);
    let server = async {
        let (tcp, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = acceptor.accept(tcp).await else { return };
        let mut read = [0; 5];
        stream.read_exact(&mut read).await.unwrap();
        stream.write_all(&read).await.unwrap();
        // Without a close_notify this is an error.
        assert_eq!(stream.read(&mut read).await.unwrap(), 0);
    };
    let client = async {
        let clock = Clock::real();
        let mut stream = match connect(&clock, &carrier(port, Some(tls))).await {
            Ok(stream) => stream,
            Err(fault) => {
                assert!(fault.needs_operator(), "{fault}");
                return fault.to_string();
            }
        };
        assert!(stream.is_tls());
        stream.write_all(b"hello").await.unwrap();
        let mut back = [0; 5];
        stream.read_exact(&mut back).await.unwrap();
        close(&mut stream).await;
        String::from_utf8(back.to_vec()).unwrap()
    };
    tokio::join!(server, client).1
}

const BOTH: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];

#[tokio::test]
async fn certificate_is_accepted_by_name_and_authority() {
    let authority = Authority::new("known");
    let ca = Some(authority.file());
    let by_ca = CarrierTls { ca: ca.clone(), ..CarrierTls::default() };
    for versions in [&BOTH[..], &BOTH[..1], &BOTH[1..]] {
        assert_eq!(exchange(&authority.signs("127.0.0.1"), versions, by_ca.clone()).await, "hello");
    }
    let named = CarrierTls { name: Some("smsc.example".to_owned()), ..by_ca.clone() };
    assert_eq!(exchange(&authority.signs("smsc.example"), &BOTH, named.clone()).await, "hello");
    assert_eq!(
        exchange(&authority.signs("other.example"), &BOTH, named).await,
        "the carrier's certificate is for other.example, not for smsc.example: set tls.name to the name it should have"
    );
    let actual = exchange(&authority.signs("smsc.example"), &BOTH, by_ca.clone()).await;
    assert!(
        actual.contains("for smsc.example, not for 127.0.0.1") || actual.contains("contains no host name"),
        "{actual}"
    );
    let actual = exchange(&authority.signs_until("127.0.0.1", 2020), &BOTH, by_ca).await;
    assert!(actual.starts_with("the carrier's certificate has expired: "), "{actual}");
}

#[tokio::test]
async fn unknown_authority_error_names_the_fingerprint_to_pin() {
    let known = Authority::new("known");
    // The second authority has the name of a known one and another key.
    for unknown in [Authority::new("unknown"), Authority::new("known")] {
        let certificate = unknown.signs("127.0.0.1");
        let seen = certificate.fingerprint();
        let tls = CarrierTls { ca: Some(known.file()), ..CarrierTls::default() };
        let actual = exchange(&certificate, &BOTH, tls).await;
        assert!(actual.contains(&format!("none of the authorities in {}", known.file())), "{actual}");
        assert!(actual.contains(&format!("set tls.fingerprint to {seen}")), "{actual}");
    }
    let certificate = Authority::new("unknown").signs("127.0.0.1");
    let actual = exchange(&certificate, &BOTH, CarrierTls::default()).await;
    // Where the tests run there may be no authorities at all.
    let expect = ["an authority this machine does not know", "this machine trusts no certificate authority"];
    assert!(expect.iter().any(|expect| actual.contains(expect)), "{actual}");
    let actual = exchange(
        &Certificate::by_itself("127.0.0.1"),
        &BOTH,
        CarrierTls { ca: Some(known.file()), ..CarrierTls::default() },
    )
    .await;
    assert!(actual.contains("set tls.fingerprint to "), "{actual}");
}

#[tokio::test]
async fn pinned_fingerprint_is_accepted_for_any_name() {
    let certificate = Certificate::by_itself("other.example");
    let pinned = |fingerprint: String| CarrierTls { fingerprint: Some(fingerprint), ..CarrierTls::default() };
    for versions in [&BOTH[..], &BOTH[1..]] {
        assert_eq!(exchange(&certificate, versions, pinned(certificate.fingerprint())).await, "hello");
    }
    let actual = exchange(&certificate, &BOTH, pinned("00".repeat(32))).await;
    assert!(actual.contains("does not match tls.fingerprint"), "{actual}");
    assert!(actual.contains(&certificate.fingerprint()), "{actual}");
    let actual = exchange(&certificate, &BOTH, pinned("00".to_owned())).await;
    assert_eq!(actual, "invalid tls.fingerprint: expected a SHA-256 of 64 hexadecimal digits");
}

#[tokio::test]
async fn certificate_presented_without_its_key_is_rejected() {
    let certificate = Certificate::by_itself("127.0.0.1");
    let key = KeyPair::generate().unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let key = tls::provider().key_provider.load_private_key(key).unwrap();
    // rustls rejects a mismatched pair, so the resolver is built without its check.
    let stolen = tokio_rustls::rustls::sign::CertifiedKey::new(certificate.chain.clone(), key);
    let config = ServerConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&BOTH)
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(tokio_rustls::rustls::sign::SingleCertAndKey::from(stolen)));
    let (listener, port) = listen().await;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = async {
        let (tcp, _) = listener.accept().await.unwrap();
        assert!(acceptor.accept(tcp).await.is_err());
    };
    let tls = CarrierTls { fingerprint: Some(certificate.fingerprint()), ..CarrierTls::default() };
    let clock = Clock::real();
    let (carrier, actual) = (carrier(port, Some(tls)), "this is not the carrier");
    let ((), connected) = tokio::join!(server, connect(&clock, &carrier));
    let fault = connected.err().expect("a fault").to_string();
    assert!(fault.contains(actual), "{fault}");
}

/// Connects to a server that answers with these octets, or never answers.
async fn against(answer: Option<&[u8]>, wait_ms: u64) -> NotConnected {
    let (listener, port) = listen().await;
    let mut carrier =
        carrier(port, Some(CarrierTls { fingerprint: Some("00".repeat(32)), ..CarrierTls::default() }));
    carrier.profile.bind_wait_ms = wait_ms;
    let server = async {
        let (mut tcp, _) = listener.accept().await.unwrap();
        let Some(answer) = answer else { return std::future::pending().await };
        tcp.read_exact(&mut [0; 16]).await.unwrap();
        tcp.write_all(answer).await.unwrap();
        tcp.shutdown().await.unwrap();
        // Read the client's alert before closing.
        let _ = tcp.read_to_end(&mut Vec::new()).await;
    };
    let clock = Clock::real();
    tokio::select! {
        biased;
        connected = connect(&clock, &carrier) => connected.err().expect("a fault"),
        () = async { server.await; std::future::pending().await } => unreachable!("it never ends"),
    }
}

#[tokio::test]
async fn server_without_tls_is_distinguished_from_a_silent_one() {
    let nack = b"\x00\x00\x00\x10\x80\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00";
    let fault = against(Some(nack), 5_000).await.to_string();
    assert!(fault.starts_with("the carrier does not use TLS on this port"), "{fault}");
    let fault = against(Some(b""), 5_000).await.to_string();
    assert!(fault.starts_with("the carrier closed the connection during the TLS handshake"), "{fault}");
    let fault = against(None, 200).await;
    assert!(!fault.needs_operator());
    assert!(fault.to_string().contains("TLS handshake timed out after 0.2 s"), "{fault}");
}

#[tokio::test]
async fn unreachable_address_and_invalid_settings_are_named() {
    let (listener, port) = listen().await;
    drop(listener);
    let clock = Clock::real();
    let actual = |connected: Result<Stream, NotConnected>| connected.err().expect("a fault").to_string();
    let fault = actual(connect(&clock, &carrier(port, None)).await);
    assert!(fault.starts_with(&format!("127.0.0.1:{port} cannot be reached: ")), "{fault}");

    let (_listener, port) = listen().await;
    let set = |name: Option<&str>, ca: Option<&str>| {
        let (name, ca) = (name.map(str::to_owned), ca.map(str::to_owned));
        carrier(port, Some(CarrierTls { name, ca, fingerprint: None }))
    };
    let fault = actual(connect(&clock, &set(Some("not a name"), None)).await);
    assert!(fault.contains("set tls.name"), "{fault}");
    let fault = actual(connect(&clock, &set(None, Some("/no/such/file.pem"))).await);
    assert!(fault.contains("tls.ca: /no/such/file.pem: cannot be read"), "{fault}");
    assert!(!connect(&clock, &carrier(port, None)).await.unwrap().is_tls());
}

#[test]
fn server_name_is_the_address_host_unless_tls_name_is_set() {
    for (address, name, expect) in [
        ("smsc.example:2775", None, "smsc.example"),
        ("192.0.2.1:2775", None, "192.0.2.1"),
        ("[2001:db8::1]:2775", None, "2001:db8::1"),
        ("192.0.2.1:2775", Some("smsc.example"), "smsc.example"),
    ] {
        let settings = CarrierTls { name: name.map(str::to_owned), ..CarrierTls::default() };
        assert_eq!(server_name(address, &settings).unwrap().to_str(), expect);
    }
}

#[tokio::test]
async fn write_completes_only_when_sent_and_a_cancelled_write_is_not_repeated() {
    const OCTETS: usize = 24 * 1024 * 1024;
    let certificate = Certificate::by_itself("127.0.0.1");
    let (listener, port) = listen().await;
    let (go_on, may_go_on) = tokio::sync::oneshot::channel();
    let acceptor = certificate.acceptor(&BOTH);
    let server = async {
        let (tcp, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(tcp).await.unwrap();
        may_go_on.await.unwrap();
        let mut read = Vec::new();
        stream.read_to_end(&mut read).await.unwrap();
        read
    };
    let sent: Vec<u8> = (0..OCTETS).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let client = async {
        let clock = Clock::real();
        let tls = CarrierTls { fingerprint: Some(certificate.fingerprint()), ..CarrierTls::default() };
        let mut stream = connect(&clock, &carrier(port, Some(tls))).await.unwrap();
        let mut at = 0;
        loop {
            tokio::select! {
                written = stream.write(&sent[at..]) => at += written.unwrap(),
                () = clock.sleep(Duration::from_millis(300)) => break,
            }
        }
        assert!(at < OCTETS, "the peer has read nothing, so the rest must still be unsent");
        go_on.send(()).unwrap();
        stream.write_all(&sent[at..]).await.unwrap();
        close(&mut stream).await;
    };
    let (read, ()) = tokio::join!(server, client);
    assert!(read == sent, "{} octets arrived", read.len());
}
