//! A minimal ESME: binds to a carrier, submits, answers receipts as configured, and describes each
//! event in a short text.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use hermod_smpp::session::{BindRequest, ClientConfig};
use hermod_smpp::{
    Address, BindType, CommandStatus, DataSmResp, DeliverSm, DeliverSmResp, Frame, Hidden, Moment, Pdu,
    Receipt, ReceiptDialect, Session, SessionEvent, SubmitSm, VERSION_3_3, read_data_sm_receipt,
    read_receipt,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// The longest wait for what must happen. It only bounds a hang: how long things take depends on the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The response timeout of enquire_link and unbind where none is expected.
const NO_RESPONSE: Duration = Duration::from_millis(100);

/// Waits for `future` for at most `limit` of real time. The error says that the limit passed first.
#[expect(clippy::disallowed_methods, reason = "what a test waits for here happens in real time")]
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Result<T, Elapsed> {
    tokio::time::timeout(limit, future).await
}

/// The reaction to a receipt or an MO message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnReceipt {
    Take,
    Reject(CommandStatus),
    /// Leave it unanswered.
    Ignore,
}

/// A plain or TLS stream.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

pub(crate) struct Esme {
    stream: Box<dyn ByteStream>,
    session: Session<String>,
    started: Instant,
    pub(crate) on_receipt: OnReceipt,
    happened: VecDeque<String>,
    /// The most octets of one read.
    pub(crate) read_max: usize,
    /// The text of the last receipt.
    pub(crate) last_text: String,
    /// The octets of the last response.
    pub(crate) last_answer: Vec<u8>,
}

impl Esme {
    /// Connects and binds; the first event is the bind response.
    pub(crate) async fn connect(carrier: SocketAddr, kind: BindType) -> Esme {
        Esme::connect_with(carrier, BindRequest::new(kind, b"hermod", b"secret")).await
    }

    pub(crate) async fn connect_3_3(carrier: SocketAddr) -> Esme {
        let mut request = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
        request.bind.interface_version = VERSION_3_3;
        Esme::connect_with(carrier, request).await
    }

    async fn connect_with(carrier: SocketAddr, request: BindRequest<'_>) -> Esme {
        let stream = TcpStream::connect(carrier).await.expect("the carrier listens");
        Esme::over(Box::new(stream), &request)
    }

    pub(crate) fn over(stream: Box<dyn ByteStream>, request: &BindRequest<'_>) -> Esme {
        Esme::waiting(PATIENCE, stream, request)
    }

    /// Waits this long for responses to enquire_link and unbind.
    fn waiting(wait: Duration, stream: Box<dyn ByteStream>, request: &BindRequest<'_>) -> Esme {
        let ms = |time: Duration| u64::try_from(time.as_millis()).expect("it is short");
        let mut config = ClientConfig::standard();
        config.bind_ms = ms(PATIENCE);
        config.limits.window_max = 1000;
        config.limits.response_ms = ms(PATIENCE);
        (config.limits.enquire_wait_ms, config.limits.drain_ms) = (ms(wait), ms(wait));
        let session = Session::client(config, request, Moment(0)).expect("a bind fits its PDU");
        Esme {
            stream,
            session,
            started: Instant::now(),
            on_receipt: OnReceipt::Take,
            happened: VecDeque::new(),
            read_max: 0,
            last_text: String::new(),
            last_answer: Vec::new(),
        }
    }

    /// Binds as a transceiver and asserts success.
    pub(crate) async fn bound(carrier: SocketAddr) -> Esme {
        Esme::bound_as(carrier, BindType::Transceiver).await
    }

    /// Like [`Esme::bound`], for a carrier that does not answer enquire_link or unbind.
    pub(crate) async fn bound_impatient(carrier: SocketAddr) -> Esme {
        let stream = TcpStream::connect(carrier).await.expect("the carrier listens");
        let request = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
        let mut esme = Esme::waiting(NO_RESPONSE, Box::new(stream), &request);
        assert_eq!(esme.next().await, "bound");
        esme
    }

    pub(crate) async fn bound_as(carrier: SocketAddr, kind: BindType) -> Esme {
        let mut esme = Esme::connect(carrier, kind).await;
        assert_eq!(esme.next().await, "bound");
        esme
    }

    fn now(&self) -> Moment {
        Moment(u64::try_from(self.started.elapsed().as_millis()).expect("a short test"))
    }

    /// Submits a GSM-7 text that requests a receipt.
    pub(crate) async fn submit(&mut self, text: &str) {
        self.submit_to("4915112345678", text).await;
    }

    pub(crate) async fn submit_to(&mut self, destination: &str, text: &str) {
        let submit_sm = SubmitSm {
            source: Address::alphanumeric(b"Hermod"),
            destination: Address::international(destination.as_bytes()),
            registered_delivery: 1,
            short_message: Hidden(text.as_bytes()),
            ..SubmitSm::default()
        };
        self.submit_pdu(text, &submit_sm).await;
    }

    pub(crate) async fn submit_pdu(&mut self, name: &str, submit_sm: &SubmitSm<'_>) {
        let now = self.now();
        self.session.request(&Pdu::SubmitSm(*submit_sm), name.to_owned(), now).expect("bound, with room");
        self.flush().await;
    }

    pub(crate) async fn enquire(&mut self) {
        let now = self.now();
        self.session.probe(now);
        self.flush().await;
    }

    pub(crate) async fn unbind(&mut self) {
        let now = self.now();
        self.session.unbind(now);
        self.flush().await;
    }

    async fn flush(&mut self) {
        let output = self.session.output().split();
        // A closed connection is noticed by the next read.
        let _ = self.stream.write_all(&output).await;
    }

    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> String {
        within(PATIENCE, self.wait()).await.expect("something happens")
    }

    /// Returns the next events, in order.
    pub(crate) async fn next_many(&mut self, count: usize) -> Vec<String> {
        let mut happened = Vec::new();
        for _ in 0..count {
            happened.push(self.next().await);
        }
        happened
    }

    /// Returns the next event within `time`, if any.
    pub(crate) async fn within(&mut self, time: Duration) -> Option<String> {
        within(time, self.wait()).await.ok()
    }

    async fn wait(&mut self) -> String {
        loop {
            if let Some(happened) = self.happened.pop_front() {
                return happened;
            }
            let now = self.now();
            self.session.on_deadline(now);
            while let Some(event) = self.session.next_event(now) {
                self.on_event(event);
            }
            self.flush().await;
            if self.happened.is_empty() {
                self.read().await;
            }
        }
    }

    async fn read(&mut self) {
        let due = self.session.next_deadline().map_or(PATIENCE, |due| Duration::from_millis(due.0));
        let read = self.stream.read_buf(self.session.read_buffer());
        let Ok(read) = timeout_at(self.started + due, read).await else { return };
        let now = self.now();
        match read {
            Ok(0) | Err(_) => self.session.connection_lost(now),
            Ok(octets) => {
                self.read_max = self.read_max.max(octets);
                self.session.on_input(now);
            }
        }
    }

    fn on_event(&mut self, event: SessionEvent<String>) {
        let told = match event {
            SessionEvent::Bound { .. } => "bound".to_owned(),
            SessionEvent::BindRejected(status) => format!("bind refused 0x{:02x}", status.0),
            SessionEvent::Response { token, frame } => {
                self.last_answer = frame.bytes().to_vec();
                answered(&token, &frame)
            }
            SessionEvent::Request(frame) => self.on_request(&frame),
            SessionEvent::TimedOut { token, .. } => format!("{token}: timed out"),
            SessionEvent::LateResponse { frame, .. } => answered("late", &frame),
            SessionEvent::Lost(tokens) => format!("lost {}", tokens.join(" ")),
            SessionEvent::PeerUnbound => "unbound".to_owned(),
            SessionEvent::Closed(reason) => format!("closed: {reason}"),
            SessionEvent::BindRequested(_) | SessionEvent::Notification(_) => panic!("no carrier sends that"),
        };
        self.happened.push_back(told);
    }

    fn on_request(&mut self, frame: &Frame) -> String {
        let (told, text, resp) = match frame.decode() {
            Ok(Pdu::DeliverSm(pdu)) => {
                let receipt = read_receipt(&pdu, ReceiptDialect::Standard);
                let told = receipt.map_or_else(|| said(&pdu), |receipt| receipt_told(&receipt));
                (told, pdu.text(), Pdu::DeliverSmResp(DeliverSmResp::default()))
            }
            Ok(Pdu::DataSm(pdu)) => {
                let receipt =
                    read_data_sm_receipt(&pdu, ReceiptDialect::Standard).expect("only receipts come so");
                let told = format!("by data_sm: {}", receipt_told(&receipt));
                (told, pdu.text(), Pdu::DataSmResp(DataSmResp::default()))
            }
            _ => panic!("{frame:?} is neither a receipt nor a message"),
        };
        self.last_text = String::from_utf8_lossy(&text).into_owned();
        let now = self.now();
        match self.on_receipt {
            OnReceipt::Ignore => {}
            OnReceipt::Take => {
                self.session.respond(frame.header, &resp, now).expect("a receipt can be answered");
            }
            OnReceipt::Reject(status) => {
                self.session.reject(frame.header, status, now).expect("a receipt can be answered");
            }
        }
        told
    }
}

fn receipt_told(receipt: &Receipt<'_>) -> String {
    let word = |octets: Option<&[u8]>| String::from_utf8_lossy(octets.unwrap_or(b"-")).into_owned();
    let state = receipt.message_state.map_or("-".to_owned(), |state| state.to_string());
    format!("receipt {} {} {state}", word(receipt.message_id), word(receipt.stat))
}

fn said(pdu: &DeliverSm<'_>) -> String {
    let text = pdu.text();
    let [source, destination, text] =
        [pdu.source.value, pdu.destination.value, &text].map(String::from_utf8_lossy);
    format!("said {source} > {destination}: {text}")
}

fn answered(token: &str, frame: &Frame) -> String {
    match frame.decode() {
        Ok(Pdu::SubmitSmResp(resp)) if frame.header.status.is_ok() => {
            format!("{token}: {}", String::from_utf8_lossy(resp.message_id))
        }
        _ => format!("{token}: 0x{:02x}", frame.header.status.0),
    }
}
