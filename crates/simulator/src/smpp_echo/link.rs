//! One session of a client with the reference server: requests of one read get responses and receipts in one write.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::BytesMut;
use hermod_domain::time::Timestamp;
use hermod_smpp::session::{BindAcceptance, ServerConfig, SessionState};
use hermod_smpp::{
    CommandStatus, DeliverSm, Frame, Hidden, Moment, Pdu, ReceiptDate, ReceiptFields, Session, SessionEvent,
    SubmitSm, SubmitSmResp, Tag, TlvBuffer, Tlvs, esm_class, receipt_text,
};
use tokio::sync::watch;

use super::Shared;
use crate::runtime;
use crate::session_driver::{ByteStream, SessionDriver};

/// Receipts without a response.
const RECEIPT_WINDOW: u32 = 1_000;
/// Receipts that wait for room in the window; beyond it, submits are rejected with 0x14 (message queue full).
const RECEIPTS_WAITING_MAX: usize = 100_000;
/// Submits get their response at once, so this only has to be large enough.
const SUBMITS_OPEN_MAX: u32 = 10_000;
const READ_BYTES: usize = 64 * 1024;
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// `message_state` of a delivered message.
const DELIVERED: u8 = 2;

pub(super) struct EchoLink {
    shared: Arc<Shared>,
    driver: SessionDriver<()>,
    receipts: VecDeque<Receipt>,
    writer: ReceiptWriter,
}

/// A receipt that waits for room in the window.
struct Receipt {
    id: u64,
    /// The `submit_sm`, for its addresses.
    frame: Frame,
}

impl EchoLink {
    pub(super) fn new(shared: Arc<Shared>, stream: Box<dyn ByteStream>) -> EchoLink {
        let mut config = ServerConfig::standard();
        // Benchmarks hold idle binds.
        config.limits.inactivity_ms = None;
        config.limits.read_chunk_bytes = READ_BYTES;
        config.limits.output_bytes_max = OUTPUT_BYTES_MAX;
        let session = Session::server(config, Moment(0));
        EchoLink {
            shared,
            driver: SessionDriver::new(stream, session),
            receipts: VecDeque::new(),
            writer: ReceiptWriter::new(),
        }
    }

    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut unbinding = false;
        loop {
            let moment = self.driver.tick(runtime::now());
            while let Some(event) = self.driver.session.next_event(moment) {
                self.on_event(&event, moment);
            }
            self.send_receipts(moment);
            if self.driver.is_over() {
                break;
            }
            tokio::select! {
                biased;
                () = self.driver.exchange() => {}
                _ = stop.changed(), if !unbinding => {
                    unbinding = true;
                    let moment = self.driver.tick(runtime::now());
                    self.driver.session.unbind(moment);
                }
            }
        }
        self.driver.close().await;
    }

    fn on_event(&mut self, event: &SessionEvent<()>, moment: Moment) {
        match event {
            SessionEvent::BindRequested(_) => {
                let acceptance = BindAcceptance {
                    system_id: b"echo",
                    window_max: RECEIPT_WINDOW,
                    peer_window_max: SUBMITS_OPEN_MAX,
                };
                self.driver.session.accept_bind(&acceptance, moment).expect("the bind was just requested");
            }
            SessionEvent::Request(frame) => self.on_request(frame, moment),
            // Responses to receipts are not checked.
            SessionEvent::Response { .. }
            | SessionEvent::TimedOut { .. }
            | SessionEvent::LateResponse { .. }
            | SessionEvent::Lost(_) => {}
            SessionEvent::Bound { .. }
            | SessionEvent::BindRejected(_)
            | SessionEvent::Notification(_)
            | SessionEvent::PeerUnbound
            | SessionEvent::Closed(_) => {}
        }
    }

    fn on_request(&mut self, frame: &Frame, moment: Moment) {
        let session = &mut self.driver.session;
        let Ok(Pdu::SubmitSm(submit_sm)) = frame.decode() else {
            // Other requests are not supported. A session that ended in the same read accepts no response.
            let _ = session.reject(frame.header, CommandStatus::INVCMDID, moment);
            return;
        };
        let wants_receipt = submit_sm.registered_delivery & 0x03 == 1
            && matches!(session.state(), SessionState::Bound(kind) if kind.may_receive());
        if wants_receipt && self.receipts.len() >= RECEIPTS_WAITING_MAX {
            let _ = session.reject(frame.header, CommandStatus::MSGQFUL, moment);
            return;
        }
        let id = self.shared.ids.fetch_add(1, Relaxed) + 1;
        let digits = self.writer.digits(id);
        let accepted = SubmitSmResp { message_id: digits, ..SubmitSmResp::default() };
        let _ = session.respond(frame.header, &Pdu::SubmitSmResp(accepted), moment);
        if wants_receipt {
            self.receipts.push_back(Receipt { id, frame: frame.clone() });
        }
    }

    fn send_receipts(&mut self, moment: Moment) {
        let session = &mut self.driver.session;
        while session.window_free() > 0
            && session.output().len() < OUTPUT_BYTES_MAX
            && let Some(Receipt { id, frame }) = self.receipts.pop_front()
        {
            let Ok(Pdu::SubmitSm(submit_sm)) = frame.decode() else { continue };
            self.writer.send(session, id, &submit_sm, moment);
        }
    }
}

/// Writes ids and receipts into buffers that are reused.
struct ReceiptWriter {
    digits: [u8; 20],
    text: BytesMut,
    tlvs: TlvBuffer,
    /// The minute of `date`.
    minute: i64,
    date: ReceiptDate,
}

impl ReceiptWriter {
    fn new() -> ReceiptWriter {
        let date = ReceiptDate { year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
        ReceiptWriter { digits: [0; 20], text: BytesMut::new(), tlvs: TlvBuffer::new(), minute: 0, date }
    }

    fn digits(&mut self, mut id: u64) -> &[u8] {
        let mut at = self.digits.len();
        loop {
            at -= 1;
            self.digits[at] = b'0' + u8::try_from(id % 10).expect("one digit");
            id /= 10;
            if id == 0 {
                return &self.digits[at..];
            }
        }
    }

    fn date(&mut self) -> ReceiptDate {
        let ms = i64::try_from(runtime::unix_time().as_millis()).unwrap_or(i64::MAX);
        if ms / 60_000 != self.minute {
            self.minute = ms / 60_000;
            let written = Timestamp::from_millis(ms).to_receipt_minute();
            self.date = ReceiptDate::parse(written.as_bytes()).expect("the date was just written");
        }
        self.date
    }

    fn send(&mut self, session: &mut Session<()>, id: u64, submit_sm: &SubmitSm<'_>, moment: Moment) {
        let date = self.date();
        let (mut text, mut tlvs) = (std::mem::take(&mut self.text), std::mem::take(&mut self.tlvs));
        let id = self.digits(id);
        text.clear();
        tlvs.clear();
        let fields = ReceiptFields {
            id,
            sub: 1,
            dlvrd: 1,
            submit_date: date,
            done_date: date,
            stat: b"DELIVRD",
            err: b"000",
            text: Hidden(b""),
        };
        receipt_text::write(&fields, &mut text).expect("digits and constants fit");
        tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, id).push_u8(Tag::MESSAGE_STATE, DELIVERED);
        let receipt = DeliverSm {
            source: submit_sm.destination,
            destination: submit_sm.source,
            esm_class: esm_class::RECEIPT,
            short_message: Hidden(&text),
            tlvs: if session.peer_is_3_4() { tlvs.as_tlvs() } else { Tlvs::EMPTY },
            ..DeliverSm::default()
        };
        session
            .request(&Pdu::DeliverSm(receipt), (), moment)
            .expect("the session is bound, the window has room and the receipt fits");
        (self.text, self.tlvs) = (text, tlvs);
    }
}
