//! A gateway with one customer who binds, and a stranger's connection to it, octet by octet.

use hermod_gateway::clock::Clock;
use hermod_gateway::clock::within;
use hermod_gateway::config::{Config, Period, Source};
use hermod_gateway::provision;
use hermod_gateway::running::{GatewayOptions, Running, open};
use hermod_gateway::tls::{CertificateFiles, Tls};
use hermod_smpp::session::BindRequest;
use hermod_smpp::{BindType, CommandId, CommandStatus, HEADER_BYTES, Header, Pdu, encode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Whatever should happen soon has happened by then.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

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

pub(crate) struct House {
    running: Running,
    pub(crate) plain: SocketAddr,
    pub(crate) sealed: SocketAddr,
    _folder: TempDir,
}

impl House {
    /// With timers of a second, and whatever else a test wants different.
    pub(crate) async fn open(change: impl FnOnce(&mut Config)) -> House {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.data.folder = folder.path().join("data");
        let second = Period::from_secs(1);
        (config.smpp.bind_timeout, config.smpp.pdu_timeout) = (Period::from_secs(3), second);
        (config.smpp.handshake_timeout, config.smpp.write_timeout) = (second, second);
        change(&mut config);
        let clock = Clock::real();
        let opened = open(&config, &clock).unwrap();
        let wanted = Source { path: "shop.toml".into(), text: SHOP.to_owned() }.parse().unwrap();
        provision::apply(&opened.store, &opened.pepper, &wanted, clock.now()).await.unwrap();
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
            clock,
        };
        let running = Running::start(options, opened).await.unwrap();
        House { running, plain, sealed, _folder: folder }
    }

    /// A customer who does everything right is let in, whatever somebody else has just done.
    #[track_caller]
    pub(crate) fn still_serves(&self) -> impl Future<Output = ()> {
        let address = self.plain;
        async move {
            let mut customer = Stranger::at(address).await;
            customer.say(&bind("shop", "secret08")).await;
            assert_eq!(customer.hears().await.unwrap().status, CommandStatus::OK);
        }
    }

    pub(crate) async fn close(self) {
        within(PATIENCE, self.running.stop()).await.expect("it stops in time").unwrap();
    }
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

/// A bind as a transceiver of 3.4, with the sequence number 7.
pub(crate) fn bind(system_id: &str, password: &str) -> Vec<u8> {
    let request = BindRequest::new(BindType::Transceiver, system_id.as_bytes(), password.as_bytes());
    let mut octets = bytes::BytesMut::new();
    encode(&Pdu::Bind(request.kind, request.bind), CommandStatus::OK, 7, &mut octets).unwrap();
    octets.to_vec()
}

/// The same from an address of 192.0.2.0/24, as a trusted proxy brings it.
pub(crate) fn bind_from(last: u8, system_id: &str, password: &str) -> Vec<u8> {
    let head = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02";
    [&head[..], &[last], b"\x0a\0\0\x01\x30\x39\x0a\xd7", &bind(system_id, password)].concat()
}

/// A header with these four numbers, and nothing behind it.
pub(crate) fn header(length: u32, command: CommandId, sequence: u32) -> Vec<u8> {
    [length, command.0, 0, sequence].into_iter().flat_map(u32::to_be_bytes).collect()
}

/// Somebody at the other end of a socket.
pub(crate) struct Stranger(pub(crate) TcpStream);

impl Stranger {
    pub(crate) async fn at(address: SocketAddr) -> Stranger {
        Stranger(TcpStream::connect(address).await.unwrap())
    }

    /// Whether it still arrives is the other side's affair.
    pub(crate) async fn say(&mut self, octets: &[u8]) {
        let _ = self.0.write_all(octets).await;
    }

    /// The next PDU's header, or nothing if the connection ends.
    pub(crate) async fn hears(&mut self) -> Option<Header> {
        let read = async {
            let mut head = [0; HEADER_BYTES];
            self.0.read_exact(&mut head).await.ok()?;
            let header = Header::parse(&head)?;
            let mut body = vec![0; usize::try_from(header.length).ok()?.checked_sub(HEADER_BYTES)?];
            self.0.read_exact(&mut body).await.ok()?;
            Some(header)
        };
        within(PATIENCE, read).await.expect("an answer or an end")
    }

    /// Everything until the end of the connection, each as command, status and sequence.
    pub(crate) async fn hears_all(&mut self) -> Vec<(CommandId, CommandStatus, u32)> {
        let mut heard = Vec::new();
        while let Some(header) = self.hears().await {
            heard.push((header.command, header.status, header.sequence));
        }
        heard
    }
}
