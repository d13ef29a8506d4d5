//! The real binary with a certificate: HTTPS, and the reload of a renewed certificate.

use crate::gateways::{free_address, provision_text};
use crate::real_time::wait_until;
use rcgen::{CertificateParams, KeyPair};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

/// A process of `hermod serve`, killed on drop.
pub(crate) struct Server(Child);

impl Server {
    pub(crate) fn start(folder: &Path, http: SocketAddr, https: SocketAddr) -> Server {
        let settings = format!(
            "[smpp]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"{http}\"\n[https]\nlisten = \"{https}\"\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n\
             [log]\nlevel = \"error\"\n[provision]\nfile = \"provision.toml\"\n"
        );
        std::fs::write(folder.join("hermod.toml"), settings).expect("a settings file");
        let provision = provision_text(free_address(), "100");
        std::fs::write(folder.join("provision.toml"), provision).expect("a provision file");
        let child = hermod(&["serve"], folder).spawn().expect("the binary starts");
        Server(child)
    }

    fn send_sighup(&self) {
        let sent = Command::new("kill").args(["-HUP", &self.0.id().to_string()]).status();
        assert!(sent.expect("kill is everywhere").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hermod(words: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermod"));
    command.args(words).arg("--config").arg(folder.join("hermod.toml"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

pub(crate) fn write_pair(folder: &Path) -> CertificateDer<'static> {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    std::fs::write(folder.join("chain.pem"), certificate.pem()).expect("a file");
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).expect("a file");
    certificate.der().clone()
}

/// Returns the status of `GET /balance` for a client that trusts only this certificate.
fn balance(address: SocketAddr, certificate: &CertificateDer<'static>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let mut session = ClientConnection::new(Arc::new(config), name).expect("a session");
    let mut socket = TcpStream::connect(address)?;
    let mut stream = Stream::new(&mut session, &mut socket);
    stream.write_all(
        b"GET /api/v1/balance HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice-key:alice-secret-of-many-characters\r\n\
          Connection: close\r\n\r\n",
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

#[test]
fn renewed_certificate_is_loaded_at_once_on_sighup_and_soon_without() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = write_pair(folder.path());
    let https = free_address();
    let server = Server::start(folder.path(), free_address(), https);
    wait_until("it serves over TLS", || balance(https, &first).is_ok());
    assert_eq!(balance(https, &first).expect("an answer"), "HTTP/1.1 200 OK");

    let second = write_pair(folder.path());
    server.send_sighup();
    wait_until("SIGHUP loads the second certificate", || balance(https, &second).is_ok());
    assert!(balance(https, &first).is_err(), "the first certificate is still in use");

    std::fs::write(folder.path().join("key.pem"), "nothing").expect("a file");
    server.send_sighup();
    assert!(balance(https, &second).is_ok(), "an invalid pair changes nothing");

    // Without a signal the gateway notices the new file.
    let third = write_pair(folder.path());
    wait_until("the third certificate is loaded", || balance(https, &third).is_ok());
}

#[test]
fn invalid_certificate_is_reported_before_the_gateway_starts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_pair(folder.path());
    std::fs::write(folder.path().join("key.pem"), "nothing").expect("a file");
    let mut server = Server::start(folder.path(), free_address(), free_address());
    assert_eq!(server.0.wait().expect("it can be waited for").code(), Some(2));
    let mut stderr = String::new();
    server.0.stderr.take().expect("it was piped").read_to_string(&mut stderr).expect("UTF-8");
    assert!(stderr.contains("key.pem: has no private key in it"), "{stderr}");
    assert!(!folder.path().join("hermod-data").exists());

    let checked = hermod(&["config", "check"], folder.path()).output().expect("the binary runs");
    assert_eq!(checked.status.code(), Some(2));
    write_pair(folder.path());
    let checked = hermod(&["config", "check"], folder.path()).output().expect("the binary runs");
    assert_eq!(checked.status.code(), Some(0));
}
