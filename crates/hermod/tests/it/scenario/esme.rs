//! A customer's SMPP software, octet by octet: it says what a story wants it to say, and shows what it was told. It has no
//! manners of its own, so that a story can be rude.

use crate::real_time::PATIENCE;
use bytes::BytesMut;
use hermod_gateway::clock::within;
use hermod_smpp::{
    Bind, BindType, CommandId, CommandStatus, DeliverSmResp, Frame, Hidden, Pdu, SubmitSm, Tag, VERSION_3_4,
    encode, next_frame,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PDU_BYTES_MAX: u32 = 70_000;

pub(crate) struct Esme {
    stream: TcpStream,
    input: BytesMut,
    sequence: u32,
    /// Came while something else was waited for.
    waiting: VecDeque<Frame>,
}

/// A receipt as it was brought.
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

/// A message from a handset, or a part of one, as it was brought.
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

impl Receipt {
    /// One value of its text.
    pub(crate) fn get(&self, label: &str) -> &str {
        let value = self.text.split_once(&format!("{label}:")).expect("every label is there").1;
        value.split(' ').next().unwrap_or_default()
    }
}

impl Esme {
    pub(crate) async fn connect(address: SocketAddr) -> Esme {
        let stream = TcpStream::connect(address).await.expect("somebody listens");
        Esme { stream, input: BytesMut::new(), sequence: 0, waiting: VecDeque::new() }
    }

    pub(crate) async fn bind(address: SocketAddr, kind: BindType, system_id: &str) -> Esme {
        let mut esme = Esme::connect(address).await;
        let status = esme.tries_to_bind(kind, system_id, "secret12", VERSION_3_4).await;
        assert_eq!(status, CommandStatus::OK);
        esme
    }

    pub(crate) async fn tries_to_bind(
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
        self.asks(&Pdu::Bind(kind, bind)).await.header.status
    }

    /// Says something and waits for its answer.
    pub(crate) async fn asks(&mut self, pdu: &Pdu<'_>) -> Frame {
        let sequence = self.says(pdu).await;
        self.answer_to(sequence).await
    }

    /// Says something without waiting.
    pub(crate) async fn says(&mut self, pdu: &Pdu<'_>) -> u32 {
        self.sequence += 1;
        let mut out = BytesMut::new();
        encode(pdu, CommandStatus::OK, self.sequence, &mut out).expect("a PDU");
        self.sends_octets(&out).await;
        self.sequence
    }

    pub(crate) async fn sends_octets(&mut self, octets: &[u8]) {
        // Whether anybody still reads it shows when an answer is waited for.
        let _ = self.stream.write_all(octets).await;
    }

    pub(crate) async fn answer_to(&mut self, sequence: u32) -> Frame {
        let is_it = |frame: &Frame| frame.header.command.is_answer() && frame.header.sequence == sequence;
        if let Some(at) = self.waiting.iter().position(is_it) {
            return self.waiting.remove(at).expect("it was just found");
        }
        loop {
            let frame = self.reads().await.expect("an answer before the end");
            if is_it(&frame) {
                return frame;
            }
            self.waiting.push_back(frame);
        }
    }

    /// Submits, and gives the message's id.
    pub(crate) async fn submits(&mut self, pdu: SubmitSm<'_>) -> String {
        self.tries_to_submit(pdu).await.expect("it is accepted")
    }

    pub(crate) async fn tries_to_submit(&mut self, pdu: SubmitSm<'_>) -> Result<String, CommandStatus> {
        let frame = self.asks(&Pdu::SubmitSm(pdu)).await;
        if frame.header.status != CommandStatus::OK {
            assert_eq!(frame.header.length, 16, "an error answer is its header alone");
            return Err(frame.header.status);
        }
        let Ok(Pdu::SubmitSmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
        Ok(String::from_utf8(answer.message_id.to_vec()).expect("digits"))
    }

    /// The next receipt, answered with status 0.
    pub(crate) async fn gets_receipt(&mut self) -> Receipt {
        let receipt = self.gets_receipt_unanswered().await;
        self.answers(&receipt, CommandStatus::OK).await;
        receipt
    }

    pub(crate) async fn gets_receipt_unanswered(&mut self) -> Receipt {
        Esme::receipt_in(&self.gets_delivery().await)
    }

    /// The next message from a handset, answered with status 0.
    pub(crate) async fn gets_message(&mut self) -> Mo {
        let message = self.gets_message_unanswered().await;
        self.answers_message(&message, CommandStatus::OK).await;
        message
    }

    pub(crate) async fn gets_message_unanswered(&mut self) -> Mo {
        Esme::message_in(&self.gets_delivery().await)
    }

    pub(crate) fn message_in(frame: &Frame) -> Mo {
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

    pub(crate) async fn answers_message(&mut self, message: &Mo, status: CommandStatus) {
        self.answers_delivery(message.sequence, status).await;
    }

    async fn gets_delivery(&mut self) -> Frame {
        loop {
            let is_delivery = |frame: &Frame| frame.header.command == CommandId::DELIVER_SM;
            let waiting = self.waiting.iter().position(is_delivery).and_then(|at| self.waiting.remove(at));
            let frame = match waiting {
                Some(frame) => frame,
                None => self.reads().await.expect("a receipt before the end"),
            };
            if is_delivery(&frame) {
                return frame;
            }
            self.waiting.push_back(frame);
        }
    }

    pub(crate) async fn answers(&mut self, receipt: &Receipt, status: CommandStatus) {
        self.answers_delivery(receipt.sequence, status).await;
    }

    async fn answers_delivery(&mut self, sequence: u32, status: CommandStatus) {
        let mut out = BytesMut::new();
        encode(&Pdu::DeliverSmResp(DeliverSmResp::default()), status, sequence, &mut out).expect("a PDU");
        self.sends_octets(&out).await;
    }

    /// Nothing more comes for a while.
    pub(crate) async fn gets_nothing(&mut self) {
        let quiet = within(Duration::from_millis(300), self.reads()).await;
        assert!(quiet.is_err() && self.waiting.is_empty(), "{quiet:?} {:?}", self.waiting);
    }

    /// The next PDU, or nothing at the end.
    pub(crate) async fn reads(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) =
                next_frame(&mut self.input, PDU_BYTES_MAX).expect("the gateway keeps its frames")
            {
                return Some(frame);
            }
            let read = within(PATIENCE, self.stream.read_buf(&mut self.input)).await;
            if read.expect("the gateway says something in time").unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// The gateway unbinds, and is answered.
    pub(crate) async fn is_unbound(&mut self) {
        loop {
            let frame = self.reads().await.expect("an unbind before the end");
            if frame.header.command == CommandId::UNBIND {
                let mut out = BytesMut::new();
                encode(&Pdu::UnbindResp, CommandStatus::OK, frame.header.sequence, &mut out).expect("a PDU");
                return self.sends_octets(&out).await;
            }
            self.waiting.push_back(frame);
        }
    }

    /// As `unbinds`, taking what is still brought meanwhile.
    pub(crate) async fn unbinds_after_receipts(mut self) {
        let sequence = self.says(&Pdu::Unbind).await;
        self.answer_to(sequence).await;
    }

    pub(crate) async fn unbinds(mut self) {
        let frame = self.asks(&Pdu::Unbind).await;
        assert_eq!((frame.header.command, frame.header.status), (CommandId::UNBIND_RESP, CommandStatus::OK));
        assert!(self.reads().await.is_none(), "the gateway closes after unbind_resp");
    }

    pub(crate) fn receipt_in(frame: &Frame) -> Receipt {
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
