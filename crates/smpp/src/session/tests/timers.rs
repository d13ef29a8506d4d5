//! Every timer, as a table of milliseconds since the start of the session.

use super::*;
use crate::session::*;

/// One step: what is done at a time, and the expected events and output.
struct Step<'a, T> {
    ms: u64,
    action: fn(&mut Session<T>, Moment),
    events: &'a [&'a str],
    output: &'a [&'a str],
}

/// Runs the steps, processing every deadline exactly when it is due, and checks that nothing happens between them.
#[track_caller]
fn run(mut session: Session<u32>, steps: &[Step<'_, u32>]) -> Session<u32> {
    for Step { ms, action, events, output } in steps {
        let now = START.plus_ms(*ms);
        while let Some(due) = session.next_deadline().filter(|due| *due < now) {
            session.on_deadline(due);
            assert_eq!(
                events_of(&mut session, due),
                [""; 0],
                "at {} ms, before {ms} ms",
                due.ms_since(START)
            );
            assert_eq!(output_of(&mut session), [""; 0], "at {} ms, before {ms} ms", due.ms_since(START));
        }
        action(&mut session, now);
        assert_eq!(events_of(&mut session, now), *events, "events at {ms} ms");
        assert_eq!(output_of(&mut session), *output, "output at {ms} ms");
    }
    session
}

fn due(session: &mut Session<u32>, now: Moment) {
    assert_eq!(session.next_deadline(), Some(now), "the deadline is known beforehand");
    session.on_deadline(now);
}

fn enquiry_answer(session: &mut Session<u32>, now: Moment) {
    session.receive(&raw(CommandId::ENQUIRE_LINK_RESP, 0, 2, b""), now);
}

fn enquiry(session: &mut Session<u32>, now: Moment) {
    session.receive(&raw(CommandId::ENQUIRE_LINK, 0, 9, b""), now);
}

fn submits(session: &mut Session<u32>, now: Moment) {
    session.request(&submit(), 1, now).unwrap();
}

fn half_a_pdu(session: &mut Session<u32>, now: Moment) {
    session.receive(&octets(&submit(), 7)[..20], now);
}

fn late(session: &mut Session<u32>, now: Moment) {
    session.receive(&octets(&accepted(), 2), now);
}

fn nacked(session: &mut Session<u32>, now: Moment) {
    session.receive(&raw(CommandId::GENERIC_NACK, 8, 3, b""), now);
}

fn nothing(_: &mut Session<u32>, _: Moment) {}

#[test]
fn client_enquires_after_30_s_of_silence_and_closes_after_two_misses() {
    let client = run(
        bound_client(),
        &[
            Step { ms: 30_000, action: due, events: &[], output: &["enquire_link ok 2"] },
            Step { ms: 40_000, action: due, events: &[], output: &["enquire_link ok 3"] },
            Step {
                ms: 50_000,
                action: due,
                events: &["closed: the peer does not respond to enquire_link"],
                output: &[],
            },
        ],
    );
    assert_eq!(client.counters().enquire_misses, 2);
}

#[test]
fn enquiry_response_restarts_the_silence() {
    let client = run(
        bound_client(),
        &[
            Step { ms: 30_000, action: due, events: &[], output: &["enquire_link ok 2"] },
            Step { ms: 31_000, action: enquiry_answer, events: &[], output: &[] },
            Step { ms: 61_000, action: due, events: &[], output: &["enquire_link ok 3"] },
            // Any received PDU counts as well; sent ones do not.
            Step { ms: 70_999, action: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            Step { ms: 90_000, action: submits, events: &[], output: &["submit_sm ok 4"] },
            Step { ms: 100_999, action: due, events: &[], output: &["enquire_link ok 5"] },
        ],
    );
    assert_eq!((client.counters().enquire_misses, client.counters().unmatched_responses), (0, 0));
}

#[test]
fn any_received_pdu_resets_the_misses() {
    let client = run(
        bound_client(),
        &[
            Step { ms: 30_000, action: due, events: &[], output: &["enquire_link ok 2"] },
            Step { ms: 40_000, action: due, events: &[], output: &["enquire_link ok 3"] },
            Step { ms: 41_000, action: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            Step { ms: 71_000, action: due, events: &[], output: &["enquire_link ok 4"] },
            Step { ms: 81_000, action: due, events: &[], output: &["enquire_link ok 5"] },
        ],
    );
    assert_eq!(
        (client.counters().enquire_misses, client.state()),
        (2, SessionState::Bound(BindType::Transceiver))
    );
}

#[test]
fn client_waits_10_s_for_the_bind_without_enquiries() {
    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
    let mut client = Session::client(ClientConfig::standard(), &bind, START).unwrap();
    client.output().clear();
    let closed = "closed: the bind timed out";
    run(client, &[Step { ms: 10_000, action: due, events: &[closed], output: &[] }]);
}

#[test]
fn request_times_out_and_its_late_response_is_reported_once() {
    let mut config = ClientConfig::standard();
    config.limits.enquire_idle_ms = None;
    let client = run(
        bound_client_with(config, BindType::Transceiver),
        &[
            Step { ms: 0, action: submits, events: &[], output: &["submit_sm ok 2"] },
            Step { ms: 1, action: submits, events: &[], output: &["submit_sm ok 3"] },
            Step { ms: 60_000, action: due, events: &["timed out 1 under 2"], output: &[] },
            Step { ms: 60_000, action: late, events: &["late 2 submit_sm_resp ok 2"], output: &[] },
            Step { ms: 60_001, action: due, events: &["timed out 1 under 3"], output: &[] },
            Step { ms: 60_002, action: late, events: &[], output: &[] },
            Step { ms: 70_000, action: nacked, events: &["late 3 generic_nack 08 3"], output: &[] },
        ],
    );
    assert_eq!((client.window_free(), client.next_deadline()), (10, None));
    let Counters { timeouts, late_responses, unmatched_responses, .. } = client.counters();
    assert_eq!((timeouts, late_responses, unmatched_responses), (2, 2, 1));
}

#[test]
fn server_waits_10_s_for_a_bind_and_nothing_extends_it() {
    let server = || Session::<u32>::server(ServerConfig::standard(), START);
    let closed = ["closed: no bind was received in time"];
    let responded = Step { ms: 9_000, action: enquiry, events: &[], output: &["enquire_link_resp ok 9"] };
    let closes = || Step { ms: 10_000, action: due, events: &closed, output: &[] };
    run(server(), &[responded, closes()]);
    let bind: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&octets(&Pdu::Bind(BindType::Receiver, Bind::default()), 1), now);
    let requested = Step { ms: 5_000, action: bind, events: &["bind requested 1"], output: &[] };
    run(server(), &[requested, closes()]);
}

#[test]
fn server_unbinds_idle_client_after_60_s_and_closes_5_s_later() {
    let server = || bound_server(BindType::Transceiver, VERSION_3_4);
    let closed = "closed: the peer was idle for too long";
    run(
        server(),
        &[
            Step { ms: 50_000, action: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            Step { ms: 110_000, action: due, events: &[], output: &["unbind ok 1"] },
            Step { ms: 115_000, action: due, events: &[closed], output: &[] },
        ],
    );
    // Octets of an incomplete PDU do not count, and its own timeout comes first.
    run(
        server(),
        &[
            Step { ms: 55_000, action: half_a_pdu, events: &[], output: &[] },
            Step { ms: 60_000, action: due, events: &[], output: &["unbind ok 1"] },
            Step { ms: 65_000, action: due, events: &[closed], output: &[] },
        ],
    );
}

#[test]
fn pdu_must_arrive_within_10_s() {
    let trickle: fn(&mut Session<u32>, Moment) = |session, now| session.receive(b"\0", now);
    run(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            Step { ms: 1_000, action: half_a_pdu, events: &[], output: &[] },
            Step { ms: 6_000, action: trickle, events: &[], output: &[] },
            Step { ms: 10_999, action: nothing, events: &[], output: &[] },
            Step {
                ms: 11_000,
                action: due,
                events: &["closed: a PDU was not received completely in time"],
                output: &[],
            },
        ],
    );
    // The next PDU has its own ten seconds.
    let one_and_a_half: fn(&mut Session<u32>, Moment) = |session, now| {
        session.receive(&octets(&submit(), 7)[20..], now);
        half_a_pdu(session, now);
    };
    run(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            Step { ms: 1_000, action: half_a_pdu, events: &[], output: &[] },
            Step { ms: 9_000, action: one_and_a_half, events: &["request submit_sm ok 7"], output: &[] },
            Step {
                ms: 19_000,
                action: due,
                events: &["closed: a PDU was not received completely in time"],
                output: &[],
            },
        ],
    );
}

#[test]
fn silence_does_not_count_while_the_session_does_not_read() {
    let fills: fn(&mut Session<u32>, Moment) = |session, now| {
        let octets: Vec<u8> = (1..=11).flat_map(|sequence| octets(&submit(), sequence)).collect();
        session.receive(&octets[..octets.len() - 1], now);
    };
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    fills(&mut server, START);
    assert_eq!(events_of(&mut server, START).len(), 10);
    assert!(!server.may_read());
    assert_eq!(server.next_deadline(), None);
    let later = START.plus_ms(600_000);
    server.on_deadline(later);
    let first = Header::parse(&octets(&submit(), 1)).unwrap();
    server.respond(first, &accepted(), later).unwrap();
    assert_eq!(events_of(&mut server, later), [""; 0]);
    assert!(server.may_read());
    // Both restart: the incomplete PDU and the silence.
    assert_eq!(server.next_deadline(), Some(later.plus_ms(10_000)));
}

#[test]
fn probe_detects_a_dead_peer_in_5_s() {
    let probe: fn(&mut Session<u32>, Moment) = |session, now| session.probe(now);
    let response: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&raw(CommandId::ENQUIRE_LINK_RESP, 0, 1, b""), now);
    run(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            Step { ms: 1_000, action: probe, events: &[], output: &["enquire_link ok 1"] },
            Step { ms: 2_000, action: response, events: &[], output: &[] },
            Step { ms: 3_000, action: probe, events: &[], output: &["enquire_link ok 2"] },
            Step { ms: 4_000, action: probe, events: &[], output: &[] },
            Step {
                ms: 8_000,
                action: due,
                events: &["closed: the peer does not respond to enquire_link"],
                output: &[],
            },
        ],
    );
}

#[test]
fn window_of_a_server_is_one_after_a_timeout_until_a_delivery_succeeds() {
    let mut server = bound_server(BindType::Receiver, VERSION_3_4);
    server.request(&deliver(), 1, START).unwrap();
    let later = START.plus_ms(30_000);
    assert_eq!(server.next_deadline(), Some(later));
    server.on_deadline(later);
    assert_eq!(events_of(&mut server, later), ["timed out 1 under 1"]);
    assert_eq!(server.window_free(), 1);
    assert_eq!(server.request(&deliver(), 2, later), Ok(2));
    assert_eq!(server.request(&deliver(), 3, later), Err(RequestError::WindowFull));
    server.receive(&raw(CommandId::DELIVER_SM_RESP, 0x64, 2, b""), later);
    assert_eq!(events_of(&mut server, later), ["response 2 deliver_sm_resp 64 2"]);
    assert_eq!(server.window_free(), 1);
    server.request(&deliver(), 4, later).unwrap();
    server.receive(&raw(CommandId::DELIVER_SM_RESP, 0, 3, b"\0"), later);
    assert_eq!(events_of(&mut server, later), ["response 4 deliver_sm_resp ok 3"]);
    assert_eq!(server.window_free(), 10);
}

#[test]
fn unbind_without_a_response_ends_after_5_s() {
    let unbind: fn(&mut Session<u32>, Moment) = |session, now| session.unbind(now);
    let closed = "closed: we unbound and the peer did not respond";
    for session in [bound_client(), bound_server(BindType::Transceiver, VERSION_3_4)] {
        let mut session = session;
        unbind(&mut session, START);
        assert_eq!(output_of(&mut session).len(), 1);
        run(session, &[Step { ms: 5_000, action: due, events: &[closed], output: &[] }]);
    }
    // With an outstanding request, a client waits for its response first.
    run(
        bound_client(),
        &[
            Step { ms: 0, action: submits, events: &[], output: &["submit_sm ok 2"] },
            Step { ms: 1_000, action: unbind, events: &[], output: &[] },
            Step { ms: 6_000, action: due, events: &[], output: &["unbind ok 3"] },
            Step { ms: 11_000, action: due, events: &["lost [1]", closed], output: &[] },
        ],
    );
}

#[test]
fn client_unbinds_when_the_last_outstanding_request_times_out() {
    let mut config = ClientConfig::standard();
    config.limits.response_ms = 2_000;
    let unbind: fn(&mut Session<u32>, Moment) = |session, now| session.unbind(now);
    let agreed: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&raw(CommandId::UNBIND_RESP, 0, 3, b""), now);
    run(
        bound_client_with(config, BindType::Transceiver),
        &[
            Step { ms: 0, action: submits, events: &[], output: &["submit_sm ok 2"] },
            Step { ms: 1_000, action: unbind, events: &[], output: &[] },
            Step { ms: 2_000, action: due, events: &["timed out 1 under 2"], output: &["unbind ok 3"] },
            // Until the unbind response, a late response is still accepted.
            Step { ms: 2_001, action: late, events: &["late 2 submit_sm_resp ok 2"], output: &[] },
            Step { ms: 2_002, action: agreed, events: &["closed: we unbound"], output: &[] },
            Step { ms: 2_003, action: late, events: &[], output: &[] },
        ],
    );
}

#[test]
fn unbind_of_the_peer_is_responded_to_after_30_s_with_outstanding_requests() {
    let submit_and_unbind: fn(&mut Session<u32>, Moment) = |session, now| {
        session.receive(&octets(&submit(), 7), now);
        session.receive(&raw(CommandId::UNBIND, 0, 8, b""), now);
    };
    run(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            Step {
                ms: 0,
                action: submit_and_unbind,
                events: &["request submit_sm ok 7", "peer unbound"],
                output: &[],
            },
            Step { ms: 5_000, action: due, events: &[], output: &[] },
            Step {
                ms: 30_000,
                action: due,
                events: &["closed: the peer unbound"],
                output: &["unbind_resp ok 8"],
            },
        ],
    );
}

#[test]
fn server_that_unbinds_answers_outstanding_requests_for_30_s() {
    let unbind: fn(&mut Session<u32>, Moment) = |session, now| {
        session.receive(&octets(&submit(), 7), now);
        session.receive(&octets(&submit(), 8), now);
        events_of(session, now);
        session.unbind(now);
    };
    let agreed: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&raw(CommandId::UNBIND_RESP, 0, 1, b""), now);
    let respond: fn(&mut Session<u32>, Moment) = |session, now| {
        session.respond(request(CommandId::SUBMIT_SM, 7), &accepted(), now).unwrap();
    };
    let forget: fn(&mut Session<u32>, Moment) =
        |session, now| session.forget(request(CommandId::SUBMIT_SM, 8), now).unwrap();
    let gives_up: fn(&mut Session<u32>, Moment) = due;
    let ends = ["closed: we unbound and the peer did not respond"];
    let ends_agreed = ["closed: we unbound"];
    // The last one is never answered, or gets no answer.
    for (ms, action) in [(30_000, gives_up), (29_001, forget)] {
        for (agreed_at, expect) in [(None, &ends), (Some(1_000), &ends_agreed)] {
            let agrees = agreed_at.map(|ms| Step { ms, action: agreed, events: &[], output: &[] });
            let begin = Step { ms: 0, action: unbind, events: &[], output: &["unbind ok 1"] };
            let rest = [
                Step { ms: 5_000, action: due, events: &[], output: &[] },
                Step { ms: 29_000, action: respond, events: &[], output: &["submit_sm_resp ok 7"] },
                Step { ms, action, events: expect, output: &[] },
            ];
            let steps: Vec<_> = [begin].into_iter().chain(agrees).chain(rest).collect();
            run(bound_server(BindType::Transceiver, VERSION_3_4), &steps);
        }
    }
}

#[test]
fn clock_that_runs_backward_is_tolerated() {
    let mut client = bound_client();
    client.request(&submit(), 1, Moment(50_000)).unwrap();
    client.request(&submit(), 2, Moment(0)).unwrap();
    client.on_deadline(Moment(110_000));
    let events = events_of(&mut client, Moment(0));
    assert_eq!(&events[..2], ["timed out 1 under 2", "timed out 2 under 3"]);
}
