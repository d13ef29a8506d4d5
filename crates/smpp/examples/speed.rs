//! Prints what the hot path costs: nanoseconds per PDU read, written, and carried through two sessions.
//! `cargo run --release -p hermod-smpp --example speed`

use bytes::BytesMut;
use hermod_smpp::session::{BindAcceptance, BindRequest, ClientConfig, ServerConfig};
use hermod_smpp::*;
use std::{hint::black_box, time::Duration};

const ROUNDS: u32 = 20_000;
const BATCHES: u32 = 100;
const WINDOW: u32 = 100;

#[expect(clippy::disallowed_methods, reason = "a stopwatch for people, not part of the product")]
fn timed(what: impl FnOnce()) -> Duration {
    let start = std::time::Instant::now();
    what();
    start.elapsed()
}

/// The fastest of many batches: other work on the machine only ever makes one slower.
fn per_op(name: &str, mut batch: impl FnMut()) {
    let fastest = (0..BATCHES).map(|_| timed(&mut batch)).min().unwrap_or_default();
    let picos = fastest.as_nanos().saturating_mul(1_000).checked_div(u128::from(ROUNDS)).unwrap_or_default();
    println!("{name:<44} {:>6}.{} ns", picos / 1_000, (picos % 1_000) / 100);
}

fn submit() -> SubmitSm<'static> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"491701234567"),
        registered_delivery: 1,
        short_message: Hidden(b"Your code is 314159. It is valid for ten minutes; do not share it."),
        ..SubmitSm::default()
    }
}

fn framed(pdu: &Pdu<'_>) -> Frame {
    let mut out = BytesMut::new();
    encode(pdu, CommandStatus::OK, 7, &mut out).expect("the PDU is valid");
    next_frame(&mut out, 16_384).expect("the length is right").expect("the frame is whole")
}

fn read_and_write(name: &str, pdu: &Pdu<'_>) {
    let frame = framed(pdu);
    per_op(&format!("decode {name}"), || {
        for _ in 0..ROUNDS {
            black_box(black_box(&frame).decode().expect("valid"));
        }
    });
    let mut out = BytesMut::with_capacity(64 * 1024);
    per_op(&format!("encode {name}"), || {
        for sequence in 0..ROUNDS {
            if out.len() > 60_000 {
                out.clear();
            }
            encode(black_box(pdu), CommandStatus::OK, sequence, &mut out).expect("valid");
        }
    });
}

fn bound() -> (Session<u32>, Session<u32>) {
    let now = Moment(0);
    let mut config = ClientConfig::standard();
    config.limits.window_max = WINDOW;
    let bind = BindRequest::new(BindType::Transceiver, b"hermod", b"secret");
    let mut client = Session::client(config, &bind, now).expect("the bind fits");
    let mut server = Session::server(ServerConfig::standard(), now);
    server.receive(&client.output().split(), now);
    assert!(matches!(server.next_event(now), Some(SessionEvent::BindRequested(_))));
    let acceptance = BindAcceptance { system_id: b"speed", window_max: WINDOW, peer_window_max: WINDOW };
    server.accept_bind(&acceptance, now).expect("a bind is open");
    client.receive(&server.output().split(), now);
    assert!(matches!(client.next_event(now), Some(SessionEvent::Bound { .. })));
    (client, server)
}

/// Windows of submits there and their answers back: request, receive, decode, answer, settle.
fn sessions() {
    let (mut client, mut server) = bound();
    let now = Moment(1);
    let submit = Pdu::SubmitSm(submit());
    let accepted = SubmitSmResp { message_id: b"314159265358979323", ..SubmitSmResp::default() };
    let answer = Pdu::SubmitSmResp(accepted);
    per_op("session: submit, answer, settle (both ends)", || {
        for token in 0..ROUNDS / WINDOW {
            for _ in 0..WINDOW {
                client.request(&submit, token, now).expect("the window is free");
            }
            server.read_buffer().extend_from_slice(client.output());
            client.output().clear();
            server.on_input(now);
            while let Some(SessionEvent::Request(frame)) = server.next_event(now) {
                black_box(frame.decode().expect("valid"));
                server.respond(frame.header, &answer, now).expect("the request is open");
            }
            client.read_buffer().extend_from_slice(server.output());
            server.output().clear();
            client.on_input(now);
            while let Some(SessionEvent::Response { token, frame }) = client.next_event(now) {
                black_box((token, frame.decode().expect("valid")));
            }
            black_box(client.next_deadline());
        }
    });
    assert_eq!(client.outstanding(), 0);
}

/// One read of a hundred submits, every one handed out.
fn receive_only() {
    let (_, mut server) = bound();
    let now = Moment(1);
    let frame = framed(&Pdu::SubmitSm(submit()));
    let hundred = frame.bytes().repeat(WINDOW as usize);
    per_op("session: receive and refuse a submit", || {
        for _ in 0..ROUNDS / WINDOW {
            server.read_buffer().extend_from_slice(&hundred);
            server.on_input(now);
            while let Some(SessionEvent::Request(frame)) = server.next_event(now) {
                server.reject(frame.header, CommandStatus::THROTTLED, now).expect("the request is open");
            }
            server.output().clear();
        }
    });
}

fn main() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"314159265358979323").push_u8(Tag::MESSAGE_STATE, 2);
    let receipt = DeliverSm {
        source: Address::international(b"491701234567"),
        destination: Address::alphanumeric(b"Hermod"),
        esm_class: esm_class::RECEIPT,
        short_message: Hidden(
            b"id:314159265358979323 sub:001 dlvrd:001 submit date:2504010905 done date:2504010906 \
              stat:DELIVRD err:000 text:",
        ),
        tlvs: tlvs.as_tlvs(),
        ..DeliverSm::default()
    };
    read_and_write("submit_sm", &Pdu::SubmitSm(submit()));
    let accepted = SubmitSmResp { message_id: b"314159265358979323", ..SubmitSmResp::default() };
    read_and_write("submit_sm_resp", &Pdu::SubmitSmResp(accepted));
    read_and_write("deliver_sm (receipt)", &Pdu::DeliverSm(receipt));
    per_op("read_receipt", || {
        for _ in 0..ROUNDS {
            black_box(read_receipt(black_box(&receipt), ReceiptDialect::Standard));
        }
    });
    receive_only();
    sessions();
}
