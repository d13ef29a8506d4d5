//! The operator API with TLS: listed addresses, commands from another machine and on the gateway's own, a renewed certificate.

use super::operator_fixture::FILE;
use super::process::{Process, hermod, json, output_of, path, run};
use crate::gateways::free_address;
use crate::https::write_pair;
use crate::real_time::wait_until;
use hermod_gateway::tls::fingerprint_of;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A gateway whose operator API has TLS and admits 127.0.0.2 as another machine.
struct Served {
    folder: TempDir,
    operations: SocketAddr,
    certificate: CertificateDer<'static>,
    serving: Process,
}

fn serve() -> Served {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let certificate = write_pair(folder.path());
    let operations = free_address();
    let settings = format!(
        "[data]\nfolder = \"data\"\n[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{}\"\n[operations]\nlisten = \"{operations}\"\n\
         certificate = \"chain.pem\"\nkey = \"key.pem\"\nallow = [\"127.0.0.2\"]\n[log]\nlevel = \"error\"\n\
         [provision]\nfile = \"provision.toml\"\n",
        free_address()
    );
    std::fs::write(folder.path().join("hermod.toml"), settings).expect("a settings file");
    let provision = folder.path().join("provision.toml");
    std::fs::write(&provision, FILE).expect("a provision file");
    std::fs::set_permissions(&provision, std::fs::Permissions::from_mode(0o600)).expect("our own file");
    let settings = folder.path().join("hermod.toml");
    let serving = Process::start(&["serve", "--config", path(&settings)]);
    let served = Served { folder, operations, certificate, serving };
    wait_until("operator.url exists", || served.data().join("operator.url").exists());
    served
}

impl Served {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command with the options of another machine.
    fn remote(&self, token: &Path, args: &[&str]) -> (i32, String, String) {
        let url = format!("https://localhost:{}", self.operations.port());
        let chain = self.file("chain.pem");
        run(&[args, &["--url", &url, "--token-file", path(token), "--ca", path(&chain)]].concat())
    }

    /// Sends a GET over TLS from this address to the host `sms.example`. Returns the status.
    async fn status(&self, source: &str, token: &str, target: &str, header: &str) -> String {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a certificate");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::new(source.parse().expect("an address"), 0)).expect("a loopback address");
        let stream = socket.connect(self.operations).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let mut stream =
            TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake");
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: sms.example\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{header}\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        // The gateway may close without close_notify.
        let _ = stream.read_to_string(&mut answer).await;
        answer.get(9..12).unwrap_or_default().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operator_api_over_tls_admits_listed_addresses_only() {
    let served = serve();
    let token = std::fs::read_to_string(served.data().join("operator.token")).unwrap();
    let accounts = "/operator/v1/accounts";
    for (source, header, expect) in [
        ("127.0.0.2", "", "200"),
        ("127.0.0.3", "", "403"),
        ("127.0.0.1", "", "403"),
        ("127.0.0.2", "X-Forwarded-For: 10.0.0.1\r\n", "403"),
    ] {
        assert_eq!(served.status(source, token.trim(), accounts, header).await, expect, "{source} {header}");
    }
    assert_eq!(served.status("127.0.0.2", "wrong", accounts, "").await, "401");
    for page in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(served.status("127.0.0.3", "", page, "").await, "200", "{page}");
    }
    // Without TLS nothing is answered.
    let mut plain = tokio::net::TcpStream::connect(served.operations).await.unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert_eq!(served.serving.terminate(), 0);
}

#[test]
fn commands_work_over_tls_from_another_machine() {
    let served = serve();
    let added = json(&served.data(), &["operator", "add", "ann", "role=support", "until=2999-01-01"]);
    let token = served.file("ann.token");
    std::fs::write(&token, added["secrets"][0]["secret"].as_str().unwrap()).unwrap();

    let (code, out, error) = served.remote(&token, &["account", "list"]);
    assert!(code == 0 && out.contains("shop"), "{out}{error}");
    let (code, _, error) = served.remote(&token, &["topup", "shop", "1"]);
    assert!(code == 1 && error.contains("ROLE_NOT_ALLOWED: your role is support"), "{error}");
    let (code, _, error) = served.remote(&token, &["account", "opt-outs", "shop"]);
    assert!(code == 1 && error.contains("REASON_NEEDED") && error.contains("--unmask"), "{error}");
    let (code, out, error) =
        served.remote(&token, &["account", "opt-outs", "shop", "--unmask", "ticket 4711"]);
    assert_eq!(code, 0, "{out}{error}");
    let reasons = json(&served.data(), &["changes", "--action", "reason"]);
    assert_eq!(reasons["items"][0]["by"], "operator ann", "{reasons}");
    assert_eq!(reasons["items"][0]["detail"]["reason"], "ticket 4711", "{reasons}");

    // The options can be in the environment; the authority is needed.
    let mut command = hermod(&["account", "list"]);
    command.env("HERMOD_OPERATOR_URL", format!("https://localhost:{}", served.operations.port()));
    command.env("HERMOD_OPERATOR_TOKEN_FILE", &token);
    let (code, _, error) = output_of(&mut command);
    assert!(code == 1 && error.contains("TLS handshake") && error.contains("--ca"), "{error}");
    command.env("HERMOD_OPERATOR_CA", served.file("chain.pem"));
    assert_eq!(output_of(&mut command).0, 0);
    assert_eq!(served.serving.terminate(), 0);
}

#[test]
fn commands_on_the_same_machine_accept_the_certificate_in_use_only() {
    let served = serve();
    let list = || run(&["account", "list", "--data-dir", path(&served.data())]);
    assert_eq!(list().0, 0);
    let url = || std::fs::read_to_string(served.data().join("operator.url")).unwrap();
    let first =
        format!("https://{}/operator/v1\n{}\n", served.operations, fingerprint_of(&served.certificate));
    assert_eq!(url(), first);

    // The renewed certificate is on disk before its key: the gateway cannot load it yet.
    let other = tempfile::tempdir().unwrap();
    let renewed = write_pair(other.path());
    std::fs::copy(other.path().join("chain.pem"), served.file("chain.pem")).unwrap();
    assert_eq!(list().0, 0, "the first certificate is in use");
    assert_eq!(url(), first);
    std::fs::copy(other.path().join("key.pem"), served.file("key.pem")).unwrap();
    served.serving.signal("-HUP");
    wait_until("the renewed certificate is in use", || url().contains(&fingerprint_of(&renewed)));
    assert_eq!(list().0, 0);
    std::fs::remove_file(served.file("chain.pem")).unwrap();
    assert_eq!(list().0, 0, "without the file");
    // Another certificate than the gateway's: the token is not sent.
    std::fs::write(served.data().join("operator.url"), first).unwrap();
    let (code, _, error) = list();
    assert!(code == 1 && error.contains("does not respond"), "{error}");
    assert_eq!(served.serving.terminate(), 0);
}
