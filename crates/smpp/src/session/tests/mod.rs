//! Tests of sessions, and their helpers: bound sessions, raw PDUs, and events and output as text.

mod bind_types;
mod late_responses;
mod lifecycle;
mod malformed_pdus;
mod timers;
mod unreliable_link;

use bytes::BytesMut;

use super::{BindAcceptance, BindRequest, ClientConfig, Moment, ServerConfig, Session, SessionEvent};
use crate::*;

pub(in crate::session) const START: Moment = Moment(1_000);

/// Encodes a PDU.
pub(in crate::session) fn octets(pdu: &Pdu<'_>, sequence: u32) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(pdu, CommandStatus::OK, sequence, &mut out).unwrap();
    out.to_vec()
}

/// Encodes a header and a body without checks.
pub(in crate::session) fn raw(command: CommandId, status: u32, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in [16 + body.len() as u32, command.0, status, sequence] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    out.extend_from_slice(body);
    out
}

pub(in crate::session) fn submit() -> Pdu<'static> {
    Pdu::SubmitSm(SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"491701234567"),
        short_message: Hidden(b"hello"),
        ..SubmitSm::default()
    })
}

pub(in crate::session) fn deliver() -> Pdu<'static> {
    Pdu::DeliverSm(DeliverSm {
        source: Address::international(b"491701234567"),
        destination: Address::alphanumeric(b"Hermod"),
        short_message: Hidden(b"hi"),
        ..DeliverSm::default()
    })
}

pub(in crate::session) fn accepted() -> Pdu<'static> {
    Pdu::SubmitSmResp(SubmitSmResp { message_id: b"42", ..SubmitSmResp::default() })
}

pub(in crate::session) fn acceptance() -> BindAcceptance<'static> {
    BindAcceptance { system_id: b"hermod", window_max: 10, peer_window_max: 10 }
}

/// Returns a bound server session with an empty output.
pub(in crate::session) fn bound_server(kind: BindType, version: u8) -> Session<u32> {
    bound_server_with(ServerConfig::standard(), kind, version)
}

pub(in crate::session) fn bound_server_with(
    config: ServerConfig,
    kind: BindType,
    version: u8,
) -> Session<u32> {
    let mut server = Session::server(config, START);
    let bind = Bind { system_id: b"acme", interface_version: version, ..Bind::default() };
    server.receive(&octets(&Pdu::Bind(kind, bind), 1), START);
    assert!(matches!(server.next_event(START), Some(SessionEvent::BindRequested(_))));
    server.accept_bind(&acceptance(), START).unwrap();
    server.output().clear();
    server
}

/// Returns a bound client session with an empty output; its next sequence number is 2.
pub(in crate::session) fn bound_client() -> Session<u32> {
    bound_client_with(ClientConfig::standard(), BindType::Transceiver)
}

pub(in crate::session) fn bound_client_with(config: ClientConfig, kind: BindType) -> Session<u32> {
    let mut client = Session::client(config, &BindRequest::new(kind, b"acme", b"pw"), START).unwrap();
    client.receive(&octets(&Pdu::BindResp(kind, BindResp::default()), 1), START);
    assert!(matches!(client.next_event(START), Some(SessionEvent::Bound { .. })));
    client.output().clear();
    client
}

fn request(command: CommandId, sequence: u32) -> Header {
    Header::parse(&raw(command, 0, sequence, b"")).unwrap()
}

fn describe_header(header: &Header) -> String {
    let status = if header.status.is_ok() { "ok".into() } else { format!("{:02x}", header.status.0) };
    format!("{} {status} {}", header.command, header.sequence)
}

/// Takes the output, each PDU as `command status sequence`.
pub(in crate::session) fn output_of<T>(session: &mut Session<T>) -> Vec<String> {
    let mut out = session.output().split();
    let mut words = Vec::new();
    while let Some(frame) = next_frame(&mut out, 1 << 20).unwrap() {
        words.push(describe_header(&frame.header));
    }
    assert!(out.is_empty());
    words
}

/// Takes all events, as text.
pub(in crate::session) fn events_of<T: std::fmt::Debug>(
    session: &mut Session<T>,
    now: Moment,
) -> Vec<String> {
    std::iter::from_fn(|| session.next_event(now)).map(describe_event).collect()
}

pub(in crate::session) fn describe_event<T: std::fmt::Debug>(event: SessionEvent<T>) -> String {
    match event {
        SessionEvent::Bound { kind, .. } => format!("bound {kind:?}"),
        SessionEvent::BindRejected(status) => format!("bind rejected {:02x}", status.0),
        SessionEvent::BindRequested(frame) => format!("bind requested {}", frame.header.sequence),
        SessionEvent::Request(frame) => format!("request {}", describe_header(&frame.header)),
        SessionEvent::Notification(frame) => format!("notification {}", describe_header(&frame.header)),
        SessionEvent::Response { token, frame } => {
            format!("response {token:?} {}", describe_header(&frame.header))
        }
        SessionEvent::TimedOut { sequence, token } => format!("timed out {token:?} under {sequence}"),
        SessionEvent::LateResponse { sequence, frame } => {
            format!("late {sequence} {}", describe_header(&frame.header))
        }
        SessionEvent::PeerUnbound => "peer unbound".into(),
        SessionEvent::Lost(tokens) => format!("lost {tokens:?}"),
        SessionEvent::Closed(reason) => format!("closed: {reason}"),
    }
}

/// Receives octets, and compares events and output.
#[track_caller]
pub(in crate::session) fn check<T: std::fmt::Debug>(
    session: &mut Session<T>,
    octets: &[u8],
    now: Moment,
    events: &[&str],
    output: &[&str],
) {
    session.receive(octets, now);
    assert_eq!(events_of(session, now), events);
    assert_eq!(output_of(session), output);
}
