//! Fixture: a gateway with one SMPP customer, and a raw client that sends octets.

use hermod_gateway::clock::Clock;
use hermod_gateway::clock::within;
use hermod_gateway::config::{Config, Period, Source};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{GatewayOptions, Running, open};
use hermod_gateway::tls::{CertificateFiles, Tls};
use hermod_operator::author::Author;
use hermod_operator::setup;
use hermod_smpp::session::BindRequest;
use hermod_smpp::{BindType, CommandId, CommandStatus, HEADER_BYTES, Header, Pdu, encode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The longest wait for what must happen. It only bounds a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

const SHOP: &str = r#"
[[account]]
name = "shop"
currency = "EUR"
senders = ["Shop"]

[[connection]]
name = "shop-smpp"
account = "shop"
system_id = "shop"
password = "secret08"

[[connection]]
name = "bank-smpp"
account = "shop"
system_id = "bank"
password = "secret09"
allow = ["192.0.2.202"]
"#;

pub(crate) struct TestGateway {
    running: Running,
    pub(crate) plain: SocketAddr,
    pub(crate) sealed: SocketAddr,
    _folder: TempDir,
}

impl TestGateway {
    /// Starts a gateway with timers that do not run out, and this change of its settings.
    pub(crate) async fn open(change: impl FnOnce(&mut Config)) -> TestGateway {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.data.folder = folder.path().join("data");
        set_timeouts(&mut config, Period::from_secs(600), Period::from_secs(600));
        change(&mut config);
        let clock = Clock::real();
        let opened = open(&config, &clock).unwrap();
        let wanted = Source { path: "shop.toml".into(), text: SHOP.to_owned() }.parse().unwrap();
        setup::apply(&opened.store, &opened.pepper, &wanted, &Author::operator(None), clock.now())
            .await
            .unwrap();
        let listener = || TcpListener::bind("127.0.0.1:0");
        let (http, smpp, smpps) =
            (listener().await.unwrap(), listener().await.unwrap(), listener().await.unwrap());
        let (plain, sealed) = (smpp.local_addr().unwrap(), smpps.local_addr().unwrap());
        let tls = Arc::new(Tls::load(certificate(&folder), &[], clock.now()).unwrap());
        let options = GatewayOptions {
            config,
            http,
            https: None,
            smpp: Some(smpp),
            smpps: Some((smpps, tls)),
            operations: None,
            operator: None,
            pages: None,
            clock,
        };
        let running = Running::start(options, opened).await.unwrap();
        TestGateway { running, plain, sealed, _folder: folder }
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        self.running.gateway()
    }

    /// Asserts that a valid bind succeeds. An impatient gateway may close the first ones on a slow machine.
    #[track_caller]
    pub(crate) fn assert_still_serving(&self) -> impl Future<Output = ()> {
        let address = self.plain;
        async move {
            let bound = async {
                loop {
                    let mut customer = RawClient::at(address).await;
                    customer.write(&bind("shop", "secret08")).await;
                    if let Some(answer) = customer.read_header().await {
                        return answer.status;
                    }
                }
            };
            assert_eq!(within(PATIENCE, bound).await, Ok(CommandStatus::OK));
        }
    }

    pub(crate) async fn close(self) {
        within(PATIENCE, self.running.stop()).await.expect("the gateway stops in time").unwrap();
    }
}

/// Sets the timeout of binds, and of PDUs, handshakes and writes.
pub(crate) fn set_timeouts(config: &mut Config, bind: Period, other: Period) {
    (config.smpp.bind_timeout, config.smpp.pdu_timeout) = (bind, other);
    (config.smpp.handshake_timeout, config.smpp.write_timeout) = (other, other);
}

/// Timeouts of a few seconds, for connections that shall run into them.
pub(crate) fn impatient(config: &mut Config) {
    set_timeouts(config, Period::from_secs(3), Period::from_secs(1));
}

fn certificate(folder: &TempDir) -> CertificateFiles {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let files =
        CertificateFiles { certificate: folder.path().join("chain.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&files.certificate, params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(&files.key, key.serialize_pem()).unwrap();
    files
}

/// Returns a bind_transceiver of version 3.4 with sequence number 7.
pub(crate) fn bind(system_id: &str, password: &str) -> Vec<u8> {
    let request = BindRequest::new(BindType::Transceiver, system_id.as_bytes(), password.as_bytes());
    let mut octets = bytes::BytesMut::new();
    encode(&Pdu::Bind(request.kind, request.bind), CommandStatus::OK, 7, &mut octets).unwrap();
    octets.to_vec()
}

/// Returns the same bind after a PROXY header with an address of 192.0.2.0/24.
pub(crate) fn bind_from(last: u8, system_id: &str, password: &str) -> Vec<u8> {
    let head = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02";
    [&head[..], &[last], b"\x0a\0\0\x01\x30\x39\x0a\xd7", &bind(system_id, password)].concat()
}

/// Returns a PDU header without a body.
pub(crate) fn header(length: u32, command: CommandId, sequence: u32) -> Vec<u8> {
    [length, command.0, 0, sequence].into_iter().flat_map(u32::to_be_bytes).collect()
}

/// A raw client connection.
pub(crate) struct RawClient(pub(crate) TcpStream);

impl RawClient {
    pub(crate) async fn at(address: SocketAddr) -> RawClient {
        RawClient(TcpStream::connect(address).await.unwrap())
    }

    /// Writes octets and ignores a closed connection.
    pub(crate) async fn write(&mut self, octets: &[u8]) {
        let _ = self.0.write_all(octets).await;
    }

    /// Returns the header of the next PDU, or none if the connection ends.
    pub(crate) async fn read_header(&mut self) -> Option<Header> {
        let read = async {
            let mut head = [0; HEADER_BYTES];
            self.0.read_exact(&mut head).await.ok()?;
            let header = Header::parse(&head)?;
            let mut body = vec![0; usize::try_from(header.length).ok()?.checked_sub(HEADER_BYTES)?];
            self.0.read_exact(&mut body).await.ok()?;
            Some(header)
        };
        within(PATIENCE, read).await.expect("a response or a close in time")
    }

    /// Returns command, status and sequence of all PDUs until the connection ends.
    pub(crate) async fn read_headers(&mut self) -> Vec<(CommandId, CommandStatus, u32)> {
        let mut read = Vec::new();
        while let Some(header) = self.read_header().await {
            read.push((header.command, header.status, header.sequence));
        }
        read
    }
}
