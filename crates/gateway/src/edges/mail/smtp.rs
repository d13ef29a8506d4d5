//! One mail over one SMTP connection (RFC 5321), with STARTTLS (RFC 3207) or TLS from the start (RFC 8314) and AUTH PLAIN
//! (RFC 4616).

use super::{MailSettings, SendError, message};
use crate::clock::{Clock, within};
use crate::config::MailTls;
use crate::live_status::Mail;
use crate::secrets::random_token;
use crate::stream::{Stream, close, tune};
use crate::tls;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// The longest time for one mail, from the DNS lookup to the last response.
const SEND_WAIT: Duration = Duration::from_secs(60);
/// After this long without a TCP acknowledgement the kernel drops the connection.
const USER_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest line of a response (RFC 5321 section 4.5.3.1.5 says 512).
const LINE_BYTES_MAX: u64 = 4_096;
const LINES_MAX: usize = 100;
/// Our name in EHLO. Servers accept any; a real one would tell where the gateway runs.
const OWN_NAME: &str = "hermod.localhost";
const MESSAGE_ID_CHARS: usize = 26;

/// Sends a mail. The error is a sentence for the operator, without secrets.
pub(super) async fn send(clock: &Clock, settings: &MailSettings, mail: &Mail) -> Result<(), SendError> {
    let sent = within(SEND_WAIT, send_now(clock, settings, mail)).await;
    sent.unwrap_or_else(|_| Err(temporary(format!("{} timed out", settings.server))))
}

async fn send_now(clock: &Clock, settings: &MailSettings, mail: &Mail) -> Result<(), SendError> {
    let MailSettings { server, port, tls, sender, user, .. } = settings;
    let tcp = TcpStream::connect((server.as_str(), *port))
        .await
        .and_then(|stream| tune(stream, USER_TIMEOUT))
        .map_err(|error| temporary(format!("{server}:{port} cannot be reached: {error}")))?;
    let mut peer = match tls {
        MailTls::Implicit => Peer::over(encrypt(tcp, settings).await?),
        MailTls::Starttls | MailTls::None => Peer::over(Stream::plain(tcp)),
    };
    peer.expect("the greeting", 220).await?;
    let mut offers = peer.ask(&format!("EHLO {OWN_NAME}"), 250).await?;
    if *tls == MailTls::Starttls {
        peer.ask("STARTTLS", 220).await?;
        peer = peer.encrypted(settings).await?;
        offers = peer.ask(&format!("EHLO {OWN_NAME}"), 250).await?;
    }
    if let Some(user) = user {
        let offers_plain = offers.lines().any(|line| {
            let mut words = line.split([' ', '=']);
            words.next() == Some("AUTH") && words.any(|word| word == "PLAIN")
        });
        if !offers_plain {
            return Err(temporary("the server does not offer AUTH PLAIN".to_owned()));
        }
        let password = settings.password().map_err(SendError::Temporary)?;
        let credentials = STANDARD.encode(format!("\0{user}\0{}", password.reveal()));
        peer.ask_secretly("AUTH PLAIN", &credentials, 235).await?;
    }
    peer.ask(&format!("MAIL FROM:<{sender}>"), 250).await?;
    peer.ask(&format!("RCPT TO:<{}>", mail.to), 250).await?;
    peer.ask("DATA", 354).await?;
    let id = random_token(MESSAGE_ID_CHARS).map_err(|error| temporary(error.to_string()))?;
    let message = message::encode(mail, sender, &id, clock.machine_time());
    peer.write(&format!("{message}.\r\n")).await?;
    peer.expect("DATA", 250).await?;
    // The mail is accepted: how the connection ends does not matter.
    let _ = peer.ask("QUIT", 221).await;
    close(&mut peer.stream).await;
    Ok(())
}

async fn encrypt(tcp: TcpStream, settings: &MailSettings) -> Result<Stream, SendError> {
    let MailSettings { server, ca, .. } = settings;
    let ca = ca.clone();
    let roots = tokio::task::spawn_blocking(move || tls::authorities(ca.as_deref())).await;
    let roots =
        roots.map_err(|error| error.to_string()).and_then(|roots| roots).map_err(SendError::Temporary)?;
    let name = ServerName::try_from(server.clone()).map_err(|error| temporary(error.to_string()))?;
    let shaken = TlsConnector::from(Arc::new(tls::client_config(roots))).connect(name, tcp).await;
    shaken
        .map(Stream::tls)
        .map_err(|error| temporary(format!("the TLS handshake with {server} failed: {error}")))
}

fn temporary(error: String) -> SendError {
    SendError::Temporary(error)
}

/// The connection to the server.
struct Peer {
    stream: BufReader<Stream>,
}

impl Peer {
    fn over(stream: Stream) -> Peer {
        Peer { stream: BufReader::new(stream) }
    }

    /// Continues with TLS. What the server sent before the handshake is an injection, and ends the connection.
    async fn encrypted(self, settings: &MailSettings) -> Result<Peer, SendError> {
        if !self.stream.buffer().is_empty() {
            return Err(temporary("the server sent more than its answer to STARTTLS".to_owned()));
        }
        let tcp = self.stream.into_inner().into_plain();
        let tcp = tcp.ok_or_else(|| temporary("the connection is encrypted already".to_owned()))?;
        Ok(Peer::over(encrypt(tcp, settings).await?))
    }

    /// Sends a command. Returns the text of the response if it has this code.
    async fn ask(&mut self, command: &str, code: u16) -> Result<String, SendError> {
        self.write(&format!("{command}\r\n")).await?;
        self.expect(command, code).await
    }

    /// Sends a command with a secret argument.
    async fn ask_secretly(&mut self, command: &str, secret: &str, code: u16) -> Result<String, SendError> {
        self.write(&format!("{command} {secret}\r\n")).await?;
        self.expect(command, code).await
    }

    async fn write(&mut self, text: &str) -> Result<(), SendError> {
        let written = self.stream.write_all(text.as_bytes()).await;
        written.map_err(|error| temporary(format!("the connection was lost: {error}")))
    }

    /// Reads a response. One with another code is an error: 5xx rejects the mail (RFC 5321 section 4.2.1), except while we sign
    /// in, where the settings are wrong and not the mail.
    async fn expect(&mut self, command: &str, code: u16) -> Result<String, SendError> {
        let mut text = String::new();
        for _ in 0..LINES_MAX {
            let line = self.read_line().await?;
            let (number, rest) = (line.get(..3).and_then(|digits| digits.parse::<u16>().ok()), line.get(4..));
            let Some(number) = number else {
                return Err(temporary("the server does not speak SMTP".to_owned()));
            };
            text.push_str(rest.unwrap_or_default());
            text.push('\n');
            if line.as_bytes().get(3) == Some(&b'-') {
                continue;
            }
            // Addresses do not belong into logs, and servers repeat them.
            let verb = command.split([' ', ':']).next().unwrap_or_default();
            let is_mail = ["RCPT", "DATA"].contains(&verb);
            let error = format!("the server answered {verb} with {number}");
            return match number {
                number if number == code => Ok(text),
                500..600 if is_mail => Err(SendError::Rejected(error)),
                _ => Err(temporary(error)),
            };
        }
        Err(temporary("the response has too many lines".to_owned()))
    }

    async fn read_line(&mut self) -> Result<String, SendError> {
        let mut line = Vec::new();
        let read = (&mut self.stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
        read.map_err(|error| temporary(format!("the connection was lost: {error}")))?;
        if line.last() != Some(&b'\n') {
            return Err(temporary("the server closed the connection".to_owned()));
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}
