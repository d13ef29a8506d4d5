//! What the session tests share: bound sessions, raw PDUs, and events and output as words.

use bytes::BytesMut;

use super::{Acceptance, BindRequest, ClientConfig, Event, Moment, ServerConfig, Session};
use crate::*;

pub(super) const START: Moment = Moment(1_000);

/// A PDU as octets.
pub(super) fn octets(pdu: &Pdu<'_>, sequence: u32) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(pdu, CommandStatus::OK, sequence, &mut out).unwrap();
    out.to_vec()
}

/// Header and body as they are, valid or not.
pub(super) fn raw(command: CommandId, status: u32, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in [16 + body.len() as u32, command.0, status, sequence] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    out.extend_from_slice(body);
    out
}

pub(super) fn submit() -> Pdu<'static> {
    Pdu::SubmitSm(SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"491701234567"),
        short_message: Hidden(b"hello"),
        ..SubmitSm::default()
    })
}

pub(super) fn deliver() -> Pdu<'static> {
    Pdu::DeliverSm(DeliverSm {
        source: Address::international(b"491701234567"),
        destination: Address::alphanumeric(b"Hermod"),
        short_message: Hidden(b"hi"),
        ..DeliverSm::default()
    })
}

pub(super) fn accepted() -> Pdu<'static> {
    Pdu::SubmitSmResp(SubmitSmResp { message_id: b"42", ..SubmitSmResp::default() })
}

pub(super) fn acceptance() -> Acceptance<'static> {
    Acceptance { system_id: b"hermod", window_max: 10, inbound_max: 10 }
}

/// A server that has just accepted a bind; its output is empty.
pub(super) fn bound_server(kind: BindType, version: u8) -> Session<u32> {
    bound_server_with(ServerConfig::standard(), kind, version)
}

pub(super) fn bound_server_with(config: ServerConfig, kind: BindType, version: u8) -> Session<u32> {
    let mut server = Session::server(config, START);
    let bind = Bind { system_id: b"acme", interface_version: version, ..Bind::default() };
    server.receive(&octets(&Pdu::Bind(kind, bind), 1), START);
    assert!(matches!(server.next_event(START), Some(Event::BindRequested(_))));
    server.accept_bind(&acceptance(), START).unwrap();
    server.output().clear();
    server
}

/// A client whose bind has just been accepted; its output is empty and its next sequence is 2.
pub(super) fn bound_client() -> Session<u32> {
    bound_client_with(ClientConfig::standard(), BindType::Transceiver)
}

pub(super) fn bound_client_with(config: ClientConfig, kind: BindType) -> Session<u32> {
    let mut client = Session::client(config, &BindRequest::new(kind, b"acme", b"pw"), START).unwrap();
    client.receive(&octets(&Pdu::BindResp(kind, BindResp::default()), 1), START);
    assert!(matches!(client.next_event(START), Some(Event::Bound { .. })));
    client.output().clear();
    client
}

fn header_words(header: &Header) -> String {
    let status = if header.status.is_ok() { "ok".into() } else { format!("{:02x}", header.status.0) };
    format!("{} {status} {}", header.command, header.sequence)
}

/// What would be written, as `command status sequence`, and takes it.
pub(super) fn written<T>(session: &mut Session<T>) -> Vec<String> {
    let mut out = session.output().split();
    let mut words = Vec::new();
    while let Some(frame) = next_frame(&mut out, 1 << 20).unwrap() {
        words.push(header_words(&frame.header));
    }
    assert!(out.is_empty());
    words
}

/// Every event there is now, in words.
pub(super) fn told<T: std::fmt::Debug>(session: &mut Session<T>, now: Moment) -> Vec<String> {
    std::iter::from_fn(|| session.next_event(now)).map(event_words).collect()
}

pub(super) fn event_words<T: std::fmt::Debug>(event: Event<T>) -> String {
    match event {
        Event::Bound { kind, .. } => format!("bound {kind:?}"),
        Event::BindRefused(status) => format!("bind refused {:02x}", status.0),
        Event::BindRequested(frame) => format!("bind requested {}", frame.header.sequence),
        Event::Request(frame) => format!("request {}", header_words(&frame.header)),
        Event::Notification(frame) => format!("notification {}", header_words(&frame.header)),
        Event::Answered { token, frame } => format!("answered {token:?} {}", header_words(&frame.header)),
        Event::TimedOut { sequence, token } => format!("timed out {token:?} under {sequence}"),
        Event::LateAnswer { sequence, frame } => format!("late {sequence} {}", header_words(&frame.header)),
        Event::PeerUnbound => "peer unbound".into(),
        Event::Lost(tokens) => format!("lost {tokens:?}"),
        Event::Closed(reason) => format!("closed: {reason}"),
    }
}

/// Receives octets and gives events and answers, in words.
#[track_caller]
pub(super) fn check<T: std::fmt::Debug>(
    session: &mut Session<T>,
    octets: &[u8],
    now: Moment,
    events: &[&str],
    output: &[&str],
) {
    session.receive(octets, now);
    assert_eq!(told(session, now), events);
    assert_eq!(written(session), output);
}
