//! A minimal ESME: sends exactly the PDUs of the test and returns the responses, without automatic
//! answers, so that a test can violate the protocol.

use crate::real_time::{PATIENCE, pause};
use bytes::BytesMut;
use hermod_gateway::clock::within;
use hermod_smpp::{
    Address, Bind, BindType, CommandId, CommandStatus, DeliverSmResp, Frame, Hidden, Pdu, SubmitSm, Tag,
    VERSION_3_4, encode, next_frame,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PDU_BYTES_MAX: u32 = 70_000;

/// Returns a short message from `Hermod` that requests final receipts.
pub(crate) fn message(text: &str) -> SubmitSm<'_> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    }
}

pub(crate) struct Esme {
    stream: TcpStream,
    input: BytesMut,
    sequence: u32,
    /// PDUs received while waiting for another one.
    waiting: VecDeque<Frame>,
}

/// A received delivery receipt.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub(crate) esm_class: u8,
    pub(crate) source: String,
    pub(crate) destination: String,
    pub(crate) text: String,
    pub(crate) id_tlv: Option<String>,
    pub(crate) state_tlv: Option<u8>,
    pub(crate) reference_tlv: Option<u16>,
    pub(crate) has_tlvs: bool,
    sequence: u32,
}

/// A received MO message or part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mo {
    pub(crate) esm_class: u8,
    pub(crate) data_coding: u8,
    pub(crate) source: String,
    pub(crate) destination: String,
    pub(crate) octets: Vec<u8>,
    pub(crate) in_payload: bool,
    sequence: u32,
}

/// How often a bind is tried.
const TRY_EVERY: Duration = Duration::from_secs(2);

impl Receipt {
    /// Returns one value of its text.
    pub(crate) fn get(&self, label: &str) -> &str {
        let value = self.text.split_once(&format!("{label}:")).expect("the receipt has every label").1;
        value.split(' ').next().unwrap_or_default()
    }
}

impl Esme {
    pub(crate) async fn connect(address: SocketAddr) -> Esme {
        let stream = TcpStream::connect(address).await.expect("the gateway listens");
        Esme { stream, input: BytesMut::new(), sequence: 0, waiting: VecDeque::new() }
    }

    pub(crate) async fn bind(address: SocketAddr, kind: BindType, system_id: &str) -> Esme {
        let mut esme = Esme::connect(address).await;
        let status = esme.try_bind(kind, system_id, "secret12", VERSION_3_4).await;
        assert_eq!(status, CommandStatus::OK);
        esme
    }

    /// Tries one bind as a transceiver. None if the gateway does not listen, or closes the connection without a response.
    pub(crate) async fn try_bind_at(address: SocketAddr, system_id: &str) -> Option<(Esme, CommandStatus)> {
        let stream = TcpStream::connect(address).await.ok()?;
        let mut esme = Esme { stream, input: BytesMut::new(), sequence: 0, waiting: VecDeque::new() };
        let password = Hidden(&b"secret12"[..]);
        let interface_version = VERSION_3_4;
        let bind = Bind { system_id: system_id.as_bytes(), password, interface_version, ..Bind::default() };
        esme.send(&Pdu::Bind(BindType::Transceiver, bind)).await;
        let status = esme.read_pdu().await?.header.status;
        Some((esme, status))
    }

    /// Tries to bind until it succeeds: a node may not know yet a connection that another one has got, and one with too many
    /// sessions tells the customer to try again. Wrong binds are limited, so it does not try often.
    pub(crate) async fn wait_until_bound(address: SocketAddr, system_id: &str) {
        let bound = async {
            while !matches!(Esme::try_bind_at(address, system_id).await, Some((_, CommandStatus::OK))) {
                pause(TRY_EVERY).await;
            }
        };
        within(PATIENCE, bound).await.expect("the bind succeeds in time");
    }

    pub(crate) async fn try_bind(
        &mut self,
        kind: BindType,
        system_id: &str,
        password: &str,
        interface_version: u8,
    ) -> CommandStatus {
        let bind = Bind {
            system_id: system_id.as_bytes(),
            password: Hidden(password.as_bytes()),
            interface_version,
            ..Bind::default()
        };
        self.request(&Pdu::Bind(kind, bind)).await.header.status
    }

    /// Sends a request and waits for its response.
    pub(crate) async fn request(&mut self, pdu: &Pdu<'_>) -> Frame {
        let sequence = self.send(pdu).await;
        self.response_to(sequence).await
    }

    /// Sends a request without waiting. Returns its sequence number.
    pub(crate) async fn send(&mut self, pdu: &Pdu<'_>) -> u32 {
        self.sequence += 1;
        let mut out = BytesMut::new();
        encode(pdu, CommandStatus::OK, self.sequence, &mut out).expect("a PDU");
        self.send_octets(&out).await;
        self.sequence
    }

    pub(crate) async fn send_octets(&mut self, octets: &[u8]) {
        // A closed connection shows when a response is awaited.
        let _ = self.stream.write_all(octets).await;
    }

    pub(crate) async fn response_to(&mut self, sequence: u32) -> Frame {
        let is_it = |frame: &Frame| frame.header.command.is_response() && frame.header.sequence == sequence;
        if let Some(at) = self.waiting.iter().position(is_it) {
            return self.waiting.remove(at).expect("it was just found");
        }
        loop {
            let frame = self.read_pdu().await.expect("an answer before the end");
            if is_it(&frame) {
                return frame;
            }
            self.waiting.push_back(frame);
        }
    }

    /// Submits a message and returns its id.
    pub(crate) async fn submit(&mut self, pdu: SubmitSm<'_>) -> String {
        self.try_submit(pdu).await.expect("the message is accepted")
    }

    pub(crate) async fn try_submit(&mut self, pdu: SubmitSm<'_>) -> Result<String, CommandStatus> {
        let frame = self.request(&Pdu::SubmitSm(pdu)).await;
        if frame.header.status != CommandStatus::OK {
            assert_eq!(frame.header.length, 16, "an error response has no body");
            return Err(frame.header.status);
        }
        let Ok(Pdu::SubmitSmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
        Ok(String::from_utf8(answer.message_id.to_vec()).expect("digits"))
    }

    /// Returns the next receipt and answers it with status 0.
    pub(crate) async fn take_receipt(&mut self) -> Receipt {
        let receipt = self.take_receipt_unanswered().await;
        self.answer_receipt(&receipt, CommandStatus::OK).await;
        receipt
    }

    pub(crate) async fn take_receipt_unanswered(&mut self) -> Receipt {
        Esme::parse_receipt(&self.take_deliver_sm().await)
    }

    /// Returns the next MO message and answers it with status 0.
    pub(crate) async fn take_mo(&mut self) -> Mo {
        let message = self.take_mo_unanswered().await;
        self.answer_mo(&message, CommandStatus::OK).await;
        message
    }

    pub(crate) async fn take_mo_unanswered(&mut self) -> Mo {
        Esme::parse_mo(&self.take_deliver_sm().await)
    }

    pub(crate) fn parse_mo(frame: &Frame) -> Mo {
        let Ok(Pdu::DeliverSm(pdu)) = frame.decode() else { panic!("{frame:?}") };
        let end = |end: hermod_smpp::Address<'_>| {
            format!("{}/{} {}", end.ton, end.npi, String::from_utf8_lossy(end.value))
        };
        Mo {
            esm_class: pdu.esm_class,
            data_coding: pdu.data_coding,
            source: end(pdu.source),
            destination: end(pdu.destination),
            octets: pdu.text().to_vec(),
            in_payload: pdu.short_message.is_empty(),
            sequence: frame.header.sequence,
        }
    }

    pub(crate) async fn answer_mo(&mut self, message: &Mo, status: CommandStatus) {
        self.answer_deliver_sm(message.sequence, status).await;
    }

    async fn take_deliver_sm(&mut self) -> Frame {
        loop {
            let is_delivery = |frame: &Frame| frame.header.command == CommandId::DELIVER_SM;
            let waiting = self.waiting.iter().position(is_delivery).and_then(|at| self.waiting.remove(at));
            let frame = match waiting {
                Some(frame) => frame,
                None => self.read_pdu().await.expect("a receipt before the end"),
            };
            if is_delivery(&frame) {
                return frame;
            }
            self.waiting.push_back(frame);
        }
    }

    pub(crate) async fn answer_receipt(&mut self, receipt: &Receipt, status: CommandStatus) {
        self.answer_deliver_sm(receipt.sequence, status).await;
    }

    async fn answer_deliver_sm(&mut self, sequence: u32, status: CommandStatus) {
        let mut out = BytesMut::new();
        encode(&Pdu::DeliverSmResp(DeliverSmResp::default()), status, sequence, &mut out).expect("a PDU");
        self.send_octets(&out).await;
    }

    /// Waits until the gateway has read all that was sent before.
    pub(crate) async fn wait_until_read(&mut self) {
        self.request(&Pdu::EnquireLink).await;
    }

    /// Asserts that no PDU arrives for a while.
    pub(crate) async fn assert_nothing_received(&mut self) {
        let quiet = within(Duration::from_millis(300), self.read_pdu()).await;
        assert!(quiet.is_err() && self.waiting.is_empty(), "{quiet:?} {:?}", self.waiting);
    }

    /// Returns the next PDU, or none at the end of the connection.
    pub(crate) async fn read_pdu(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = next_frame(&mut self.input, PDU_BYTES_MAX).expect("a valid frame") {
                return Some(frame);
            }
            let read = within(PATIENCE, self.stream.read_buf(&mut self.input)).await;
            if read.expect("a PDU in time").unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// Waits for the gateway's unbind and answers it.
    pub(crate) async fn wait_for_unbind(&mut self) {
        loop {
            let frame = self.read_pdu().await.expect("an unbind before the end");
            if frame.header.command == CommandId::UNBIND {
                let mut out = BytesMut::new();
                encode(&Pdu::UnbindResp, CommandStatus::OK, frame.header.sequence, &mut out).expect("a PDU");
                return self.send_octets(&out).await;
            }
            self.waiting.push_back(frame);
        }
    }

    /// Like `unbind`, after answering the deliver_sm that still arrive.
    pub(crate) async fn unbind_after_receipts(mut self) {
        let sequence = self.send(&Pdu::Unbind).await;
        self.response_to(sequence).await;
    }

    pub(crate) async fn unbind(mut self) {
        let frame = self.request(&Pdu::Unbind).await;
        assert_eq!((frame.header.command, frame.header.status), (CommandId::UNBIND_RESP, CommandStatus::OK));
        assert!(self.read_pdu().await.is_none(), "the gateway closes after unbind_resp");
    }

    pub(crate) fn parse_receipt(frame: &Frame) -> Receipt {
        let Ok(Pdu::DeliverSm(pdu)) = frame.decode() else { panic!("{frame:?}") };
        let text = |octets: &[u8]| String::from_utf8(octets.to_vec()).expect("ASCII");
        let end = |end: hermod_smpp::Address<'_>| format!("{}/{} {}", end.ton, end.npi, text(end.value));
        Receipt {
            esm_class: pdu.esm_class,
            source: end(pdu.source),
            destination: end(pdu.destination),
            text: text(&pdu.short_message),
            id_tlv: pdu.tlvs.get_text(Tag::RECEIPTED_MESSAGE_ID).map(text),
            state_tlv: pdu.tlvs.get_u8(Tag::MESSAGE_STATE),
            reference_tlv: pdu.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE),
            has_tlvs: !pdu.tlvs.is_empty(),
            sequence: frame.header.sequence,
        }
    }
}
