//! `hermod smpp test-bind`: binds, explains the result, and optionally sends one message and waits for its receipt.

use super::explanations;
use crate::client::tls::{ClientTls, Trust};
use crate::failure::{CommandResult, Failure};
use crate::input_file::first_line;
use crate::output::{print, safe};
use crate::runtime;
use clap::Args;
use hermod_gateway::clock::within;
use hermod_simulator::session_driver::{ByteStream, SessionDriver, now};
use hermod_smpp::session::{BindRequest, ClientConfig};
use hermod_smpp::{
    Address, BindType, CommandStatus, DeliverSmResp, Frame, Hidden, Moment, Pdu, Session, SessionEvent,
    SubmitSm,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

pub(super) const EXAMPLES: &str = "\
Examples:
  hermod smpp test-bind --host 127.0.0.1 --system-id shop --password-file secret.txt
  hermod smpp test-bind --host smpp.example --tls --system-id shop --password-file - < secret.txt
  hermod smpp test-bind --host smpp.example --system-id shop --password-file secret.txt \\
      --to +4915112345678 --from Shop --text 'A test'
  hermod smpp test-bind --host 127.0.0.1 --system-id shop --password-file secret.txt --type rx --hold 60

A message is sent only with --to, and charged like any other. The command waits for its receipt.

Exit codes: 0 success; 1 failure, with an explanation; 2 invalid arguments.";

/// Time for connecting and the TLS handshake.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
const RESPONSE_WAIT: Duration = Duration::from_secs(30);
/// Time for the unbind and its response.
const UNBIND_WAIT: Duration = Duration::from_secs(6);
/// Characters of one part.
const ASCII_CHARS_MAX: usize = 160;
const WIDE_UNITS_MAX: usize = 70;

#[derive(Args)]
pub(super) struct TestBindArgs {
    /// Host name or address of the server
    #[arg(long, value_name = "HOST")]
    host: String,
    /// Port of the server [default: 2775, or 2776 with --tls]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// system_id of the bind
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// File with the password in its first line; - reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: PathBuf,
    /// system_type, if the server requires one
    #[arg(long, value_name = "TYPE", default_value = "")]
    system_type: String,
    /// Bind type: transmitter, receiver or transceiver
    #[arg(long = "type", value_name = "TYPE", default_value = "trx", value_parser = ["tx", "rx", "trx"])]
    kind: String,
    /// Use SMPP 3.3 instead of 3.4
    #[arg(long)]
    v3_3: bool,
    /// Use TLS
    #[arg(long)]
    tls: bool,
    /// PEM file with certificate authorities to trust instead of this machine's
    #[arg(long, value_name = "FILE", requires = "tls")]
    ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long, requires = "tls", conflicts_with = "ca")]
    insecure: bool,
    /// Send one message to this number
    #[arg(long, value_name = "NUMBER")]
    to: Option<String>,
    /// Sender of the message; by default the connection's own
    #[arg(long, value_name = "SENDER", requires = "to", default_value = "")]
    from: String,
    /// Text of the message
    #[arg(
        long,
        value_name = "TEXT",
        requires = "to",
        default_value = "Hermod test",
        allow_hyphen_values = true
    )]
    text: String,
    /// Seconds to wait for the receipt
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    wait: u64,
    /// Stay bound for this many seconds and print what is delivered
    #[arg(long, value_name = "SECONDS", conflicts_with = "to")]
    hold: Option<u64>,
}

type Driver = SessionDriver<()>;

impl TestBindArgs {
    pub(super) fn run(self: Box<TestBindArgs>) -> CommandResult {
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

    async fn test(&self, password: &str, text: &Text) -> CommandResult {
        let connecting = within(CONNECT_WAIT, self.connect());
        let stream = match connecting.await {
            Ok(connected) => connected.map_err(Failure::failed)?,
            Err(_) => {
                return Err(Failure::failed(
                    "connecting timed out after 10 s; a firewall may block the port",
                ));
            }
        };
        let mut request = BindRequest::new(self.kind(), self.system_id.as_bytes(), password.as_bytes());
        request.bind.system_type = self.system_type.as_bytes();
        if self.v3_3 {
            request = request.with_version(hermod_smpp::VERSION_3_3);
        }
        let session = Session::client(ClientConfig::standard(), &request, Moment(0))
            .map_err(|error| Failure::usage(format!("invalid bind: {error}")))?;
        let mut driver = SessionDriver::new(stream, session);
        let result = self.run_session(&mut driver, text).await;
        unbind(driver).await;
        result
    }

    async fn connect(&self) -> Result<Box<dyn ByteStream>, String> {
        let port = self.port();
        let stream = TcpStream::connect((self.host.as_str(), port))
            .await
            .map_err(|error| format!("cannot connect to {}:{port}: {error}", self.host))?;
        if !self.tls {
            return Ok(Box::new(stream));
        }
        let trust = if self.insecure { Trust::Any } else { Trust::Authorities(self.ca.as_deref()) };
        let stream = ClientTls::new(&trust)?.handshake(&self.host, stream).await.map_err(|error| {
            format!(
                "the TLS handshake with {} failed: {error} (--ca FILE sets a private authority, --insecure accepts any \
                 certificate)",
                self.host
            )
        })?;
        Ok(Box::new(stream))
    }

    async fn run_session(&self, driver: &mut Driver, text: &Text) -> CommandResult {
        let started = now();
        match driver.next_event(started + RESPONSE_WAIT).await {
            Some(SessionEvent::Bound { frame, .. }) => print(&self.bound(&frame, ms_since(started)))?,
            Some(SessionEvent::BindRejected(status)) => {
                return Err(Failure::failed(format!(
                    "bind rejected with {status}.\n{}",
                    explanations::of_bind(status)
                )));
            }
            Some(SessionEvent::Closed(reason)) => {
                return Err(Failure::failed(self.no_bind(driver, &reason.to_string())));
            }
            Some(_) | None => {
                return Err(Failure::failed(self.no_bind(driver, "the server did not respond to the bind")));
            }
        }
        match (&self.to, self.hold) {
            (Some(to), _) => self.send(driver, to, text).await,
            (None, Some(seconds)) => hold(driver, Duration::from_secs(seconds)).await,
            (None, None) => print("Success; unbinding.\n"),
        }
    }

    fn no_bind(&self, driver: &Driver, reason: &str) -> String {
        let reason = explanations::of_other_protocol(driver.first_input()).unwrap_or(reason);
        format!("no bind at {}:{}: {reason}", self.host, self.port())
    }

    fn bound(&self, frame: &Frame, ms: u128) -> String {
        let (name, version) = match frame.decode() {
            Ok(Pdu::BindResp(_, resp)) => {
                let version =
                    resp.sc_interface_version().map(|version| format!("{}.{}", version >> 4, version & 15));
                (String::from_utf8_lossy(resp.system_id).into_owned(), version.unwrap_or("3.3".to_owned()))
            }
            Ok(_) | Err(_) => ("?".to_owned(), "?".to_owned()),
        };
        let kind = match self.kind() {
            BindType::Transmitter => "transmitter: it may submit but gets no receipts",
            BindType::Receiver => "receiver: it gets receipts and MO messages but may not submit",
            BindType::Transceiver => "transceiver: it may submit and gets receipts",
        };
        let encryption = if self.tls { ", over TLS" } else { ", without encryption" };
        format!(
            "Bound in {ms} ms as {kind}.\nThe server is \"{}\" and uses SMPP {version}{encryption}.\n",
            safe(&name)
        )
    }

    async fn send(&self, driver: &mut Driver, to: &str, text: &Text) -> CommandResult {
        let submit = SubmitSm {
            source: source(&self.from),
            destination: Address::international(to.trim_start_matches('+').as_bytes()),
            registered_delivery: 1,
            data_coding: text.coding,
            short_message: Hidden(&text.octets),
            ..SubmitSm::default()
        };
        let moment = driver.tick(now());
        driver
            .session
            .request(&Pdu::SubmitSm(submit), (), moment)
            .map_err(|refused| Failure::usage(format!("cannot send the message: {refused}")))?;
        let started = now();
        let id = loop {
            match driver.next_event(started + RESPONSE_WAIT).await {
                Some(SessionEvent::Response { frame, .. }) => break accepted(&frame)?,
                Some(SessionEvent::Request(frame)) => acknowledge(driver, &frame),
                Some(SessionEvent::Closed(reason)) => {
                    return Err(Failure::failed(format!("no response: {reason}")));
                }
                Some(_) => {}
                None => {
                    return Err(Failure::failed("no response to the message; it may have been accepted"));
                }
            }
        };
        print(&format!("Accepted in {} ms as message {}.\n", ms_since(started), safe(&id)))?;
        if !self.kind().may_receive() {
            return print("The receipt goes to a receiver of this system_id, or to the webhook.\n");
        }
        self.await_receipt(driver, &id).await
    }

    async fn await_receipt(&self, driver: &mut Driver, id: &str) -> CommandResult {
        let (started, prefix) = (now(), format!("id:{id} "));
        let until = started + Duration::from_secs(self.wait);
        while let Some(event) = driver.next_event(until).await {
            match event {
                SessionEvent::Request(frame) => {
                    let text = receipt_text(&frame);
                    acknowledge(driver, &frame);
                    if text.as_deref().is_some_and(|text| text.starts_with(&prefix)) {
                        let text = text.unwrap_or_default();
                        return print(&format!("Receipt after {} ms: {}\n", ms_since(started), safe(&text)));
                    }
                }
                SessionEvent::Closed(reason) => return Err(Failure::failed(format!("no receipt: {reason}"))),
                _ => {}
            }
        }
        Err(Failure::failed(format!("no receipt within {} s; it may still arrive", self.wait)))
    }
}

/// Prints and acknowledges deliveries.
async fn hold(driver: &mut Driver, wait: Duration) -> CommandResult {
    let until = now() + wait;
    while let Some(event) = driver.next_event(until).await {
        match event {
            SessionEvent::Request(frame) => {
                if let Some(text) = receipt_text(&frame) {
                    print(&format!("Delivered: {}\n", safe(&text)))?;
                }
                acknowledge(driver, &frame);
            }
            SessionEvent::Closed(reason) => return Err(Failure::failed(format!("the bind ended: {reason}"))),
            _ => {}
        }
    }
    print("Success; unbinding.\n")
}

/// The text of one part.
struct Text {
    coding: u8,
    octets: Vec<u8>,
}

impl Text {
    /// Encodes ASCII as ASCII, other texts in UCS-2.
    fn of(text: &str) -> Result<Text, Failure> {
        let too_long = || Failure::usage("--text is too long: a test message must fit into one part");
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
            "the message was rejected with {status}.\n{}",
            explanations::of_submit(status)
        ))),
    }
}

fn receipt_text(frame: &Frame) -> Option<String> {
    match frame.decode() {
        Ok(Pdu::DeliverSm(deliver)) => Some(String::from_utf8_lossy(&deliver.short_message).into_owned()),
        _ => None,
    }
}

/// Accepts a deliver_sm and rejects other requests.
fn acknowledge(driver: &mut Driver, frame: &Frame) {
    let moment = driver.tick(now());
    // A session that has ended accepts no response.
    let _ = match frame.decode() {
        Ok(Pdu::DeliverSm(_)) => {
            driver.session.respond(frame.header, &Pdu::DeliverSmResp(DeliverSmResp::default()), moment)
        }
        _ => driver.session.reject(frame.header, CommandStatus::INVCMDID, moment),
    };
}

/// Unbinds, waits for the response and closes the connection.
async fn unbind(mut driver: Driver) {
    let until = now() + UNBIND_WAIT;
    let moment = driver.tick(now());
    driver.session.unbind(moment);
    while let Some(event) = driver.next_event(until).await {
        if matches!(event, SessionEvent::Closed(_)) {
            break;
        }
    }
    driver.close().await;
}

fn ms_since(started: Instant) -> u128 {
    (now() - started).as_millis()
}

#[cfg(test)]
#[path = "test_bind_tests.rs"]
mod tests;
