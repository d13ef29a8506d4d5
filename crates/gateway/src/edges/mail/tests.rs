//! The client against a small server on the loopback.

use super::{MailSettings, SendError, smtp};
use crate::clock::{Clock, within};
use crate::config::MailTls;
use crate::live_status::Mail;
use crate::workers::Workers;
use hermod_domain::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// It only bounds a hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// Reads one mail and returns every line of the client. `answers` are the responses to RCPT and to the end of DATA.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    answers: (&str, &str),
    is_greeting: bool,
) -> (Vec<String>, S) {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    let mut in_data = false;
    if is_greeting {
        stream.write_all(b"220 here\r\n").await.unwrap();
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            break;
        }
        let line = line.trim_end().to_owned();
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_owned();
        lines.push(line.clone());
        let answer = match (in_data, verb.as_str()) {
            (true, ".") => {
                in_data = false;
                answers.1.to_owned()
            }
            (true, _) => continue,
            (false, "EHLO") => "250-here\r\n250-SIZE 1000\r\n250 AUTH LOGIN PLAIN".to_owned(),
            (false, "STARTTLS") => "220 go".to_owned(),
            (false, "AUTH") => "235 ok".to_owned(),
            (false, "RCPT") => answers.0.to_owned(),
            (false, "DATA") => {
                in_data = true;
                "354 go".to_owned()
            }
            (false, "QUIT") => "221 bye".to_owned(),
            (false, _) => "250 ok".to_owned(),
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
        if verb == "STARTTLS" || verb == "QUIT" {
            break;
        }
    }
    (lines, stream.into_inner())
}

/// Makes a certificate for `localhost` in a folder. Returns the acceptor and the certificate's file.
fn certificate(folder: &Path) -> (TlsAcceptor, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let file = folder.join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(crate::tls::provider())
        .with_protocol_versions(&crate::tls::VERSIONS)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), file)
}

fn settings(port: u16, tls: MailTls, folder: &Path) -> MailSettings {
    std::fs::write(folder.join("password"), "geheim 1\n").unwrap();
    MailSettings {
        server: "localhost".to_owned(),
        port,
        tls,
        ca: Some(folder.join("ca.pem")),
        user: (tls != MailTls::None).then(|| "hermod".to_owned()),
        password_file: Some(folder.join("password")),
        sender: "sms@example.org".to_owned(),
    }
}

fn mail() -> Mail {
    Mail { to: "ann@example.com".to_owned(), subject: "Hello".to_owned(), text: "a text\n".to_owned() }
}

async fn send(settings: &MailSettings) -> Result<(), SendError> {
    let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
    within(PATIENCE, smtp::send(&clock, settings, &mail())).await.expect("an answer in time")
}

/// Serves one connection. Returns the result of the client and what the server read.
async fn exchange(
    tls: MailTls,
    answers: (&'static str, &'static str),
) -> (Result<(), SendError>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (acceptor, _) = certificate(folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = settings(listener.local_addr().unwrap().port(), tls, folder.path());
    let server = async {
        let (tcp, _) = listener.accept().await.unwrap();
        match tls {
            MailTls::None => converse(tcp, answers, true).await.0,
            MailTls::Implicit => converse(acceptor.accept(tcp).await.unwrap(), answers, true).await.0,
            MailTls::Starttls => {
                let (mut lines, tcp) = converse(tcp, answers, true).await;
                let stream = acceptor.accept(tcp).await.unwrap();
                lines.extend(converse(stream, answers, false).await.0);
                lines
            }
        }
    };
    tokio::join!(send(&settings), server)
}

#[tokio::test]
async fn mail_is_sent_in_every_tls_mode_and_the_password_only_encrypted() {
    let login = "AUTH PLAIN AGhlcm1vZABnZWhlaW0gMQ==";
    for (tls, expect) in [
        (MailTls::None, vec!["EHLO", "MAIL", "RCPT", "DATA"]),
        (MailTls::Implicit, vec!["EHLO", login, "MAIL", "RCPT", "DATA"]),
        (MailTls::Starttls, vec!["EHLO", "STARTTLS", "EHLO", login, "MAIL", "RCPT", "DATA"]),
    ] {
        let (sent, lines) = exchange(tls, ("250 ok", "250 ok")).await;
        assert_eq!(sent, Ok(()), "{tls:?}");
        assert_eq!(lines.len() - lines.iter().position(|line| line == "DATA").unwrap(), 14, "{lines:?}");
        for (line, expect) in lines.iter().zip(&expect) {
            assert!(line.starts_with(expect), "{tls:?}: {lines:?}");
        }
        assert!(lines.contains(&"a text".to_owned()) && lines.contains(&"Subject: Hello".to_owned()));
    }
}

#[tokio::test]
async fn rejected_recipient_is_given_up_and_a_busy_server_is_tried_again() {
    let (sent, _) = exchange(MailTls::None, ("550 no such ann@example.com", "250 ok")).await;
    assert_eq!(sent, Err(SendError::Rejected("the server answered RCPT with 550".to_owned())));
    let (sent, _) = exchange(MailTls::None, ("250 ok", "451 later")).await;
    assert_eq!(sent, Err(SendError::Temporary("the server answered DATA with 451".to_owned())));
}

#[tokio::test]
async fn unknown_certificate_gets_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let (acceptor, _) = certificate(folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = tempfile::tempdir().unwrap();
    // Another authority is trusted.
    certificate(other.path());
    let settings = settings(listener.local_addr().unwrap().port(), MailTls::Implicit, other.path());
    let workers = Workers::default();
    workers.spawn_named("server", async move {
        let (tcp, _) = listener.accept().await.unwrap();
        assert!(acceptor.accept(tcp).await.is_err());
    });
    let sent = send(&settings).await;
    assert!(matches!(&sent, Err(SendError::Temporary(error)) if error.contains("TLS handshake")), "{sent:?}");
    workers.stop().await;
}

#[tokio::test]
async fn text_after_the_answer_to_starttls_ends_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = settings(listener.local_addr().unwrap().port(), MailTls::Starttls, folder.path());
    let server = async {
        let mut stream = BufReader::new(listener.accept().await.unwrap().0);
        // Somebody in between would answer the next EHLO before the handshake.
        for answer in ["220 here\r\n", "250 here\r\n", "220 go\r\n250 AUTH PLAIN\r\n"] {
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.read_line(&mut String::new()).await.unwrap();
        }
    };
    let (sent, ()) = tokio::join!(send(&settings), server);
    let error = "the server sent more than its answer to STARTTLS".to_owned();
    assert_eq!(sent, Err(SendError::Temporary(error)));
}
