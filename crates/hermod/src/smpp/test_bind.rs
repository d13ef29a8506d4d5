//! `hermod smpp test-bind`: one bind and what came of it, in plain words; one message and its receipt, if wanted.

use super::tls::{Trust, shake_hands};
use super::wire::{Octets, Wire, moment};
use super::words;
use crate::ending::{Ended, Failure};
use crate::runtime;
use crate::secret_file::first_line;
use crate::show::{safe, say};
use clap::Args;
use hermod_gateway::clock::within;
use hermod_gateway::clock::{Clock, Moment};
use hermod_smpp::session::{BindRequest, ClientConfig};
use hermod_smpp::{
    Address, BindType, CommandStatus, DeliverSmResp, Event, Frame, Hidden, Pdu, Session, SubmitSm,
};
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpStream;

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod smpp test-bind --host 127.0.0.1 --system-id shop --password-file secret.txt
  hermod smpp test-bind --host smpp.example --tls --system-id shop --password-file - < secret.txt
  hermod smpp test-bind --host smpp.example --system-id shop --password-file secret.txt \\
      --to +4915112345678 --from Shop --text 'A test'
  hermod smpp test-bind --host 127.0.0.1 --system-id shop --password-file secret.txt --type rx --hold 60

A message is sent only with --to, and charged like any other. Its receipt is waited for.

Exit codes: 0 it worked; 1 it did not, and the sentences say why; 2 something in the command needs mending.";

/// Connecting and the handshake.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// What one part holds.
const ASCII_CHARS_MAX: usize = 160;
const WIDE_UNITS_MAX: usize = 70;

#[derive(Args)]
pub(super) struct TestBind {
    /// The server's name or address
    #[arg(long, value_name = "HOST")]
    host: String,
    /// Its port; 2775, or 2776 with --tls, if you do not say
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Who binds
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// File with the password in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: PathBuf,
    /// The system_type, if the server wants one
    #[arg(long, value_name = "TYPE", default_value = "")]
    system_type: String,
    /// What to bind as: transmitter, receiver or transceiver
    #[arg(long = "type", value_name = "TYPE", default_value = "trx", value_parser = ["tx", "rx", "trx"])]
    kind: String,
    /// Speak SMPP 3.3 instead of 3.4
    #[arg(long)]
    v3_3: bool,
    /// Over TLS
    #[arg(long)]
    tls: bool,
    /// File with the certificates of authorities to believe instead of this machine's
    #[arg(long, value_name = "FILE", requires = "tls")]
    ca: Option<PathBuf>,
    /// Believe any certificate
    #[arg(long, requires = "tls", conflicts_with = "ca")]
    insecure: bool,
    /// Send one message to this number
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// Its sender; otherwise the connection's own
    #[arg(long, value_name = "SENDER", requires = "to", default_value = "")]
    from: String,
    /// Its text
    #[arg(
        long,
        value_name = "TEXT",
        requires = "to",
        default_value = "Hermod test",
        allow_hyphen_values = true
    )]
    text: String,
    /// How many seconds to wait for its receipt
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    wait: u64,
    /// Stay bound for so many seconds, and tell what is delivered meanwhile
    #[arg(long, value_name = "SECONDS", conflicts_with = "to")]
    hold: Option<u64>,
}

impl TestBind {
    pub(super) fn run(self: Box<TestBind>) -> Ended {
        let password = first_line(&self.password_file)?;
        let text = Text::of(&self.text)?;
        runtime::block_on(async move { self.test(&password, &text).await })
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(if self.tls { 2776 } else { 2775 })
    }

    fn kind(&self) -> BindType {
        match self.kind.as_str() {
            "tx" => BindType::Transmitter,
            "rx" => BindType::Receiver,
            _ => BindType::Transceiver,
        }
    }

    async fn test(&self, password: &str, text: &Text) -> Ended {
        let clock = Clock::real();
        let connecting = within(CONNECT_WAIT, self.connect());
        let stream = match connecting.await {
            Ok(connected) => connected.map_err(Failure::failed)?,
            Err(_) => return Err(Failure::failed("no connection within 10 s: a firewall, perhaps")),
        };
        let mut request = BindRequest::new(self.kind(), self.system_id.as_bytes(), password.as_bytes());
        request.bind.system_type = self.system_type.as_bytes();
        if self.v3_3 {
            request = request.speaking(hermod_smpp::VERSION_3_3);
        }
        let session = Session::client(ClientConfig::standard(), &request, moment(&clock))
            .map_err(|error| Failure::mend(format!("this cannot be bound with: {error}")))?;
        let mut wire = Wire::new(session, stream, clock.clone());
        let done = self.talk(&mut wire, &clock, text).await;
        wire.leave().await;
        done
    }

    async fn connect(&self) -> Result<Box<dyn Octets>, String> {
        let port = self.port();
        let stream = TcpStream::connect((self.host.as_str(), port))
            .await
            .map_err(|error| format!("{}:{port} cannot be reached: {error}", self.host))?;
        if !self.tls {
            return Ok(Box::new(stream));
        }
        let trust = if self.insecure { Trust::Anybody } else { Trust::Authorities(self.ca.as_deref()) };
        Ok(Box::new(shake_hands(&trust, &self.host, stream).await?))
    }

    async fn talk(&self, wire: &mut Wire, clock: &Clock, text: &Text) -> Ended {
        let began = clock.moment();
        match wire.next(began.plus(ANSWER_WAIT)).await {
            Some(Event::Bound { frame, .. }) => say(&self.bound(&frame, ms_since(began, clock)))?,
            Some(Event::BindRefused(status)) => {
                return Err(Failure::failed(format!(
                    "the bind was refused with {status}.\n{}",
                    words::of_bind(status)
                )));
            }
            Some(Event::Closed(reason)) => {
                return Err(Failure::failed(self.no_bind(wire, &reason.to_string())));
            }
            Some(_) | None => {
                return Err(Failure::failed(self.no_bind(wire, "the server did not answer the bind")));
            }
        }
        match (&self.to, self.hold) {
            (Some(to), _) => self.send(wire, clock, to, text).await,
            (None, Some(seconds)) => hold(wire, clock, Duration::from_secs(seconds)).await,
            (None, None) => say("Everything is fine; unbinding.\n"),
        }
    }

    fn no_bind(&self, wire: &Wire, reason: &str) -> String {
        format!("no bind at {}:{}: {}", self.host, self.port(), wire.other_protocol().unwrap_or(reason))
    }

    fn bound(&self, frame: &Frame, ms: u64) -> String {
        let (name, version) = match frame.decode() {
            Ok(Pdu::BindResp(_, resp)) => {
                let version =
                    resp.sc_interface_version().map(|version| format!("{}.{}", version >> 4, version & 15));
                (String::from_utf8_lossy(resp.system_id).into_owned(), version.unwrap_or("3.3".to_owned()))
            }
            Ok(_) | Err(_) => ("?".to_owned(), "?".to_owned()),
        };
        let kind = match self.kind() {
            BindType::Transmitter => "transmitter: it may send, and receipts go elsewhere",
            BindType::Receiver => "receiver: it gets receipts and messages, and may not send",
            BindType::Transceiver => "transceiver: it may send and gets receipts",
        };
        let sealed = if self.tls { ", over TLS" } else { ", readable on the way" };
        format!(
            "Bound in {ms} ms as {kind}.\nThe server calls itself \"{}\" and speaks SMPP {version}{sealed}.\n",
            safe(&name)
        )
    }

    async fn send(&self, wire: &mut Wire, clock: &Clock, to: &str, text: &Text) -> Ended {
        let submit = SubmitSm {
            source: source(&self.from),
            destination: Address::international(to.trim_start_matches('+').as_bytes()),
            registered_delivery: 1,
            data_coding: text.coding,
            short_message: Hidden(&text.octets),
            ..SubmitSm::default()
        };
        wire.session
            .request(&Pdu::SubmitSm(submit), (), moment(clock))
            .map_err(|refused| Failure::mend(format!("the message cannot be sent: {refused}")))?;
        let began = clock.moment();
        let id = loop {
            match wire.next(began.plus(ANSWER_WAIT)).await {
                Some(Event::Answered { frame, .. }) => break accepted(&frame)?,
                Some(Event::Request(frame)) => take(wire, clock, &frame),
                Some(Event::Closed(reason)) => return Err(Failure::failed(format!("no answer: {reason}"))),
                Some(_) => {}
                None => {
                    return Err(Failure::failed(
                        "the message was not answered; nobody knows if it was accepted",
                    ));
                }
            }
        };
        say(&format!("Accepted in {} ms as message {}.\n", ms_since(began, clock), safe(&id)))?;
        if !self.kind().may_receive() {
            return say("Its receipt comes to a receiver of this system_id, or to the webhook.\n");
        }
        self.await_receipt(wire, clock, &id).await
    }

    async fn await_receipt(&self, wire: &mut Wire, clock: &Clock, id: &str) -> Ended {
        let (began, wanted) = (clock.moment(), format!("id:{id} "));
        let until = began.plus(Duration::from_secs(self.wait));
        while let Some(event) = wire.next(until).await {
            match event {
                Event::Request(frame) => {
                    let text = receipt_text(&frame);
                    take(wire, clock, &frame);
                    if text.as_deref().is_some_and(|text| text.starts_with(&wanted)) {
                        let text = text.unwrap_or_default();
                        return say(&format!(
                            "Receipt after {} ms: {}\n",
                            ms_since(began, clock),
                            safe(&text)
                        ));
                    }
                }
                Event::Closed(reason) => return Err(Failure::failed(format!("no receipt: {reason}"))),
                _ => {}
            }
        }
        Err(Failure::failed(format!("no receipt within {} s; it may still come", self.wait)))
    }
}

/// Tells what is delivered, and takes it.
async fn hold(wire: &mut Wire, clock: &Clock, wait: Duration) -> Ended {
    let until = clock.moment().plus(wait);
    while let Some(event) = wire.next(until).await {
        match event {
            Event::Request(frame) => {
                if let Some(text) = receipt_text(&frame) {
                    say(&format!("Delivered: {}\n", safe(&text)))?;
                }
                take(wire, clock, &frame);
            }
            Event::Closed(reason) => return Err(Failure::failed(format!("the bind ended: {reason}"))),
            _ => {}
        }
    }
    say("Everything is fine; unbinding.\n")
}

/// One part's worth.
struct Text {
    coding: u8,
    octets: Vec<u8>,
}

impl Text {
    /// ASCII as such, anything else in UCS-2.
    fn of(text: &str) -> Result<Text, Failure> {
        let too_long = || Failure::mend("--text: a test message fits into one part");
        if text.is_ascii() {
            let octets = text.as_bytes().to_vec();
            return if octets.len() <= ASCII_CHARS_MAX {
                Ok(Text { coding: 1, octets })
            } else {
                Err(too_long())
            };
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        if units.len() > WIDE_UNITS_MAX {
            return Err(too_long());
        }
        Ok(Text { coding: 8, octets: units.into_iter().flat_map(u16::to_be_bytes).collect() })
    }
}

fn source(from: &str) -> Address<'_> {
    let digits = from.trim_start_matches('+');
    if from.is_empty() {
        Address::default()
    } else if digits.bytes().all(|b| b.is_ascii_digit()) {
        Address::international(digits.as_bytes())
    } else {
        Address::alphanumeric(from.as_bytes())
    }
}

fn accepted(frame: &Frame) -> Result<String, Failure> {
    let status = frame.header.status;
    match frame.decode() {
        Ok(Pdu::SubmitSmResp(resp)) if status.is_ok() => {
            Ok(String::from_utf8_lossy(resp.message_id).into_owned())
        }
        _ => Err(Failure::failed(format!(
            "the message was refused with {status}.\n{}",
            words::of_submit(status)
        ))),
    }
}

fn receipt_text(frame: &Frame) -> Option<String> {
    match frame.decode() {
        Ok(Pdu::DeliverSm(deliver)) => Some(String::from_utf8_lossy(&deliver.short_message).into_owned()),
        _ => None,
    }
}

/// Whatever it is, it has arrived.
fn take(wire: &mut Wire, clock: &Clock, frame: &Frame) {
    let now = moment(clock);
    // A session that has ended has nothing to answer any more.
    let _ = match frame.decode() {
        Ok(Pdu::DeliverSm(_)) => {
            wire.session.answer(frame.header, &Pdu::DeliverSmResp(DeliverSmResp::default()), now)
        }
        _ => wire.session.refuse(frame.header, CommandStatus::INVCMDID, now),
    };
}

fn ms_since(began: Moment, clock: &Clock) -> u64 {
    clock.moment().0.saturating_sub(began.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_as_it_can_and_fits_one_part() {
        let told = |text: &str| Text::of(text).map(|text| (text.coding, text.octets)).ok();
        assert_eq!(told("a@b"), Some((1, b"a@b".to_vec())));
        assert_eq!(told("\u{20ac}"), Some((8, vec![0x20, 0xac])));
        assert_eq!(told(&"a".repeat(160)).map(|(coding, _)| coding), Some(1));
        assert_eq!(told(&"a".repeat(161)), None);
        assert_eq!(told(&"\u{e9}".repeat(71)), None);
    }

    #[test]
    fn every_code_a_bind_can_get_from_us_is_explained() {
        let unknown = words::of_bind(CommandStatus(0x0400));
        for code in [0x04, 0x05, 0x08, 0x0D, 0x0E, 0x0F, 0x53] {
            assert_ne!(words::of_bind(CommandStatus(code)), unknown, "{code:#x}");
        }
    }
}
