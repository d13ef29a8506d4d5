//! A seeded mutator: changes and recombines the golden vectors and feeds the result to
//! framing, decoding, the receipt, header and time parsers, and sessions of both roles. Nothing
//! may panic, and the rules of a session must hold for any input.
//!
//! `MUTATIONS=1000000 SEED=7 cargo test -p hermod-smpp mutator` runs longer, or again.

use bytes::BytesMut;
use hermod_smpp::session::{BindAcceptance, BindRequest, ClientConfig, ServerConfig, SessionState};
use hermod_smpp::*;

use crate::chance::{Breadcrumb, Chance, mutate, setting};
use crate::printed::PDU_BYTES_MAX;
use crate::vectors;

const MUTATIONS: u64 = 200_000;
const SEED: u64 = 20_250_401;

const DIALECTS: [ReceiptDialect; 2] = [ReceiptDialect::Standard, ReceiptDialect::Commas];

/// Returns mutated octets; most have a corrected length, so that they pass the framing.
fn mutant(seeds: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut octets = seeds[chance.below(seeds.len())].clone();
    let other = &seeds[chance.below(seeds.len())];
    for _ in 0..=chance.below(4) {
        mutate(&mut octets, other, chance);
    }
    if octets.len() >= HEADER_BYTES && chance.below(4) == 0 {
        let command = CommandId::ALL[chance.below(CommandId::ALL.len())];
        octets[4..8].copy_from_slice(&command.0.to_be_bytes());
    }
    if octets.len() >= HEADER_BYTES && chance.below(10) > 0 {
        let length = u32::try_from(octets.len()).expect("short");
        octets[..4].copy_from_slice(&length.to_be_bytes());
    }
    octets
}

fn check_codec(octets: &[u8]) {
    for dialect in DIALECTS {
        let _ = dialect.read(octets);
    }
    check_trace(octets);
    let mut buf = BytesMut::from(octets);
    while let Ok(Some(frame)) = next_frame(&mut buf, PDU_BYTES_MAX) {
        assert_eq!(frame.bytes().len(), usize::try_from(frame.header.length).expect("fits"));
        let Ok(pdu) = frame.decode() else { continue };
        let mut out = BytesMut::new();
        encode(&pdu, CommandStatus::OK, frame.header.sequence, &mut out)
            .expect("a decoded PDU can be encoded");
        let again = next_frame(&mut out, PDU_BYTES_MAX).expect("our length is right").expect("whole");
        assert_eq!(again.decode(), Ok(pdu));
        match pdu {
            Pdu::SubmitSm(pdu) => {
                let _ = udh::parse(&pdu.text()).map(|udh| udh.concatenation());
                let _ = time::parse(pdu.validity_period);
            }
            Pdu::DeliverSm(pdu) => {
                for dialect in DIALECTS {
                    let _ = read_receipt(&pdu, dialect);
                }
            }
            _ => {}
        }
    }
}

fn check_trace(octets: &[u8]) {
    for traced in trace::describe_all(octets, ReceiptDialect::Standard).take(4) {
        assert!(traced.details.len() <= trace::DETAILS_CHARS_MAX);
        let line = traced.to_string();
        assert!(line.bytes().all(|octet| (b' '..=b'~').contains(&octet)), "{line:?}");
    }
}

fn client(now: Moment) -> Session<u64> {
    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
    let mut client = Session::client(ClientConfig::standard(), &bind, now).expect("it fits");
    let mut answer = BytesMut::new();
    let pdu = Pdu::BindResp(BindType::Transceiver, BindResp::default());
    encode(&pdu, CommandStatus::OK, 1, &mut answer).expect("it fits");
    client.receive(&answer, now);
    assert!(matches!(client.next_event(now), Some(SessionEvent::Bound { .. })));
    client
}

#[derive(Clone, Copy)]
enum Role {
    Server,
    Client,
}

/// Counts of one session's application.
#[derive(Default)]
struct Ledger {
    /// Tokens are consecutive, so each must return once and in range.
    sent: u64,
    back: u64,
    requests: u64,
    timed_out: u64,
    late: u64,
}

/// Feeds octets to a session and acts as its application.
fn check_session(session: &mut Session<u64>, role: Role, octets: &[u8], now: Moment, ledger: &mut Ledger) {
    let Ledger { sent, back, requests, timed_out, late } = ledger;
    session.receive(octets, now);
    if session.next_deadline().is_some_and(|due| due <= now) {
        session.on_deadline(now);
    }
    while let Some(event) = session.next_event(now) {
        match event {
            SessionEvent::BindRequested(frame) => {
                assert!(matches!(frame.decode(), Ok(Pdu::Bind(..))));
                let acceptance = BindAcceptance { system_id: b"hermod", window_max: 5, peer_window_max: 3 };
                session.accept_bind(&acceptance, now).expect("a bind is open");
            }
            SessionEvent::Request(frame) => {
                // Only a client reads its peer, the carrier, leniently.
                let is_readable = match role {
                    Role::Server => frame.decode().is_ok(),
                    Role::Client => frame.decode_from_carrier().is_ok(),
                };
                assert!(is_readable, "a request is known to decode");
                assert!(!frame.header.command.is_response());
                *requests += 1;
                session.reject(frame.header, CommandStatus::SYSERR, now).expect("the request is open");
            }
            SessionEvent::Response { token, frame } => {
                assert!(token < *sent && frame.header.command.is_response());
                *back += 1;
            }
            SessionEvent::TimedOut { token, .. } => {
                assert!(token < *sent);
                *back += 1;
                *timed_out += 1;
            }
            SessionEvent::LateResponse { sequence, frame } => {
                assert!(sequence == frame.header.sequence && frame.header.command.is_response());
                *late += 1;
                assert!(*late <= *timed_out, "only a timed-out request has a late response");
            }
            SessionEvent::Lost(tokens) => *back += tokens.len() as u64,
            SessionEvent::Closed(_) => assert_eq!(session.state(), SessionState::Closed),
            SessionEvent::Bound { .. }
            | SessionEvent::BindRejected(_)
            | SessionEvent::Notification(_)
            | SessionEvent::PeerUnbound => {}
        }
    }
    let submit = Pdu::SubmitSm(SubmitSm::default());
    if session.window_free() > 0 && session.request(&submit, *sent, now).is_ok() {
        *sent += 1;
    }
    assert_eq!(*sent, *back + u64::from(session.outstanding()), "every token is outstanding or returned");
    let mut written = session.output().split();
    while let Some(frame) = next_frame(&mut written, PDU_BYTES_MAX).expect("the session writes whole PDUs") {
        frame.decode().expect("the session writes valid PDUs");
    }
    assert!(written.is_empty());
}

#[test]
fn mutated_pdus_never_panic_and_sessions_keep_their_rules() {
    let seed = setting("SEED", SEED);
    let mut chance = Chance(seed);
    let mut crumb = Breadcrumb { seed, mutation: 0 };
    let seeds: Vec<Vec<u8>> = vectors::all().into_iter().map(|vector| vector.octets).collect();
    let mut now = Moment(0);
    let mut sessions = [Session::server(ServerConfig::standard(), now), client(now)];
    let mut ledgers = [Ledger::default(), Ledger::default()];
    let mut closed = [0u64, 0];
    let mutations = setting("MUTATIONS", MUTATIONS);
    for mutation in 0..mutations {
        crumb.mutation = mutation;
        now = now.plus_ms(chance.below(200) as u64);
        let octets = match chance.below(8) {
            // Valid PDUs in between, so that sessions make progress.
            0..=2 => seeds[chance.below(seeds.len())].clone(),
            3 => (0..chance.below(64)).map(|_| chance.octet()).collect(),
            _ => mutant(&seeds, &mut chance),
        };
        check_codec(&octets);
        let which = chance.below(2);
        let role = if which == 0 { Role::Server } else { Role::Client };
        check_session(&mut sessions[which], role, &octets, now, &mut ledgers[which]);
        if sessions[which].state() == SessionState::Closed {
            closed[which] += 1;
            sessions[which] =
                if which == 0 { Session::server(ServerConfig::standard(), now) } else { client(now) };
        }
    }
    // Sessions of both roles were served and ended.
    let enough = mutations / 1_000;
    assert!(closed.iter().all(|count| *count > enough), "{closed:?}");
    assert!(ledgers.iter().all(|ledger| ledger.requests > enough));
    assert!(ledgers[1].back > enough);
}

/// A mutated response or generic_nack is never answered: two peers would nack each other endlessly.
#[test]
fn mutated_responses_are_never_answered() {
    let seed = setting("SEED", SEED);
    let mut chance = Chance(seed);
    let mut crumb = Breadcrumb { seed, mutation: 0 };
    let seeds: Vec<Vec<u8>> = vectors::all().into_iter().map(|vector| vector.octets).collect();
    let now = Moment(0);
    let mut bound = client(now);
    bound.output().clear();
    for mutation in 0..setting("MUTATIONS", MUTATIONS) / 10 {
        crumb.mutation = mutation;
        let mut octets = mutant(&seeds, &mut chance);
        octets.resize(octets.len().max(HEADER_BYTES), 0);
        let length = u32::try_from(octets.len()).expect("short");
        octets[..4].copy_from_slice(&length.to_be_bytes());
        octets[4] |= 0x80;
        bound.receive(&octets, now);
        assert_eq!(bound.next_event(now), None);
        assert!(bound.output().is_empty(), "{octets:02x?}");
    }
    assert_eq!(bound.counters().unmatched_responses, setting("MUTATIONS", MUTATIONS) / 10);
}
