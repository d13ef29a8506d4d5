//! Every timer as a table of milliseconds since the session began.

use super::testing::*;
use super::*;
use crate::*;

/// One moment of a story: what is done then, and what comes of it.
struct At<'a, T> {
    ms: u64,
    does: fn(&mut Session<T>, Moment),
    events: &'a [&'a str],
    output: &'a [&'a str],
}

/// Plays the story, letting every deadline act exactly when it is due, and checks that nothing happens
/// between its moments.
#[track_caller]
fn play(mut session: Session<u32>, story: &[At<'_, u32>]) -> Session<u32> {
    for At { ms, does, events, output } in story {
        let now = START.plus_ms(*ms);
        while let Some(due) = session.next_deadline().filter(|due| *due < now) {
            session.on_deadline(due);
            assert_eq!(told(&mut session, due), [""; 0], "at {} ms, before {ms} ms", due.ms_since(START));
            assert_eq!(written(&mut session), [""; 0], "at {} ms, before {ms} ms", due.ms_since(START));
        }
        does(&mut session, now);
        assert_eq!(told(&mut session, now), *events, "events at {ms} ms");
        assert_eq!(written(&mut session), *output, "output at {ms} ms");
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
fn a_client_enquires_after_30_s_of_silence_and_gives_up_after_two_misses() {
    let client = play(
        bound_client(),
        &[
            At { ms: 30_000, does: due, events: &[], output: &["enquire_link ok 2"] },
            At { ms: 40_000, does: due, events: &[], output: &["enquire_link ok 3"] },
            At {
                ms: 50_000,
                does: due,
                events: &["closed: the peer does not answer enquire_link"],
                output: &[],
            },
        ],
    );
    assert_eq!(client.counters().enquire_misses, 2);
}

#[test]
fn an_answered_enquiry_starts_the_silence_anew() {
    let client = play(
        bound_client(),
        &[
            At { ms: 30_000, does: due, events: &[], output: &["enquire_link ok 2"] },
            At { ms: 31_000, does: enquiry_answer, events: &[], output: &[] },
            At { ms: 61_000, does: due, events: &[], output: &["enquire_link ok 3"] },
            // Anything received proves life as well; what we send does not.
            At { ms: 70_999, does: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            At { ms: 90_000, does: submits, events: &[], output: &["submit_sm ok 4"] },
            At { ms: 100_999, does: due, events: &[], output: &["enquire_link ok 5"] },
        ],
    );
    assert_eq!((client.counters().enquire_misses, client.counters().unmatched_answers), (0, 0));
}

#[test]
fn a_miss_is_forgotten_once_the_peer_speaks() {
    let client = play(
        bound_client(),
        &[
            At { ms: 30_000, does: due, events: &[], output: &["enquire_link ok 2"] },
            At { ms: 40_000, does: due, events: &[], output: &["enquire_link ok 3"] },
            At { ms: 41_000, does: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            At { ms: 71_000, does: due, events: &[], output: &["enquire_link ok 4"] },
            At { ms: 81_000, does: due, events: &[], output: &["enquire_link ok 5"] },
        ],
    );
    assert_eq!((client.counters().enquire_misses, client.state()), (2, State::Bound(BindType::Transceiver)));
}

#[test]
fn a_client_never_enquires_before_it_is_bound_and_waits_10_s_for_that() {
    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
    let mut client = Session::client(ClientConfig::standard(), &bind, START).unwrap();
    client.output().clear();
    let closed = "closed: the bind was not answered in time";
    play(client, &[At { ms: 10_000, does: due, events: &[closed], output: &[] }]);
}

#[test]
fn a_request_times_out_and_its_late_answer_is_told_once() {
    let mut config = ClientConfig::standard();
    config.limits.enquire_idle_ms = None;
    let client = play(
        bound_client_with(config, BindType::Transceiver),
        &[
            At { ms: 0, does: submits, events: &[], output: &["submit_sm ok 2"] },
            At { ms: 1, does: submits, events: &[], output: &["submit_sm ok 3"] },
            At { ms: 60_000, does: due, events: &["timed out 1 under 2"], output: &[] },
            At { ms: 60_000, does: late, events: &["late 2 submit_sm_resp ok 2"], output: &[] },
            At { ms: 60_001, does: due, events: &["timed out 1 under 3"], output: &[] },
            At { ms: 60_002, does: late, events: &[], output: &[] },
            At { ms: 70_000, does: nacked, events: &["late 3 generic_nack 08 3"], output: &[] },
        ],
    );
    assert_eq!((client.window_free(), client.next_deadline()), (10, None));
    let Counters { timeouts, late_answers, unmatched_answers, .. } = client.counters();
    assert_eq!((timeouts, late_answers, unmatched_answers), (2, 2, 1));
}

#[test]
fn a_server_waits_10_s_for_a_bind_and_nothing_extends_it() {
    let server = || Session::<u32>::server(ServerConfig::standard(), START);
    let closed = ["closed: nobody bound in time"];
    let answered = At { ms: 9_000, does: enquiry, events: &[], output: &["enquire_link_resp ok 9"] };
    let closes = || At { ms: 10_000, does: due, events: &closed, output: &[] };
    play(server(), &[answered, closes()]);
    let bind: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&octets(&Pdu::Bind(BindType::Receiver, Bind::default()), 1), now);
    let requested = At { ms: 5_000, does: bind, events: &["bind requested 1"], output: &[] };
    play(server(), &[requested, closes()]);
}

#[test]
fn a_server_unbinds_the_idle_after_60_s_and_closes_5_s_later() {
    let server = || bound_server(BindType::Transceiver, VERSION_3_4);
    let closed = "closed: the peer was idle for too long";
    play(
        server(),
        &[
            At { ms: 50_000, does: enquiry, events: &[], output: &["enquire_link_resp ok 9"] },
            At { ms: 110_000, does: due, events: &[], output: &["unbind ok 1"] },
            At { ms: 115_000, does: due, events: &[closed], output: &[] },
        ],
    );
    // Octets that make no whole PDU do not count, and the slow PDU ends it first.
    play(
        server(),
        &[
            At { ms: 55_000, does: half_a_pdu, events: &[], output: &[] },
            At { ms: 60_000, does: due, events: &[], output: &["unbind ok 1"] },
            At { ms: 65_000, does: due, events: &[closed], output: &[] },
        ],
    );
}

#[test]
fn a_pdu_has_10_s_from_its_first_octet_to_its_last() {
    let trickle: fn(&mut Session<u32>, Moment) = |session, now| session.receive(b"\0", now);
    play(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            At { ms: 1_000, does: half_a_pdu, events: &[], output: &[] },
            At { ms: 6_000, does: trickle, events: &[], output: &[] },
            At { ms: 10_999, does: nothing, events: &[], output: &[] },
            At { ms: 11_000, does: due, events: &["closed: a PDU was not finished in time"], output: &[] },
        ],
    );
    // The next PDU has its own ten seconds.
    let one_and_a_half: fn(&mut Session<u32>, Moment) = |session, now| {
        session.receive(&octets(&submit(), 7)[20..], now);
        half_a_pdu(session, now);
    };
    play(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            At { ms: 1_000, does: half_a_pdu, events: &[], output: &[] },
            At { ms: 9_000, does: one_and_a_half, events: &["request submit_sm ok 7"], output: &[] },
            At { ms: 19_000, does: due, events: &["closed: a PDU was not finished in time"], output: &[] },
        ],
    );
}

#[test]
fn silence_does_not_count_while_we_are_the_ones_not_reading() {
    let fills: fn(&mut Session<u32>, Moment) = |session, now| {
        let octets: Vec<u8> = (1..=11).flat_map(|sequence| octets(&submit(), sequence)).collect();
        session.receive(&octets[..octets.len() - 1], now);
    };
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    fills(&mut server, START);
    assert_eq!(told(&mut server, START).len(), 10);
    assert!(!server.may_read());
    assert_eq!(server.next_deadline(), None);
    let later = START.plus_ms(600_000);
    server.on_deadline(later);
    let first = Header::parse(&octets(&submit(), 1)).unwrap();
    server.answer(first, &accepted(), later).unwrap();
    assert_eq!(told(&mut server, later), [""; 0]);
    assert!(server.may_read());
    // Both begin anew: the started PDU and the silence.
    assert_eq!(server.next_deadline(), Some(later.plus_ms(10_000)));
}

#[test]
fn a_probe_finds_a_dead_peer_in_5_s() {
    let probe: fn(&mut Session<u32>, Moment) = |session, now| session.probe(now);
    let answer: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&raw(CommandId::ENQUIRE_LINK_RESP, 0, 1, b""), now);
    play(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            At { ms: 1_000, does: probe, events: &[], output: &["enquire_link ok 1"] },
            At { ms: 2_000, does: answer, events: &[], output: &[] },
            At { ms: 3_000, does: probe, events: &[], output: &["enquire_link ok 2"] },
            At { ms: 4_000, does: probe, events: &[], output: &[] },
            At {
                ms: 8_000,
                does: due,
                events: &["closed: the peer does not answer enquire_link"],
                output: &[],
            },
        ],
    );
}

#[test]
fn a_server_narrows_to_one_delivery_after_a_timeout_until_one_succeeds() {
    let mut server = bound_server(BindType::Receiver, VERSION_3_4);
    server.request(&deliver(), 1, START).unwrap();
    let later = START.plus_ms(30_000);
    assert_eq!(server.next_deadline(), Some(later));
    server.on_deadline(later);
    assert_eq!(told(&mut server, later), ["timed out 1 under 1"]);
    assert_eq!(server.window_free(), 1);
    assert_eq!(server.request(&deliver(), 2, later), Ok(2));
    assert_eq!(server.request(&deliver(), 3, later), Err(Refused::WindowFull));
    server.receive(&raw(CommandId::DELIVER_SM_RESP, 0x64, 2, b""), later);
    assert_eq!(told(&mut server, later), ["answered 2 deliver_sm_resp 64 2"]);
    assert_eq!(server.window_free(), 1);
    server.request(&deliver(), 4, later).unwrap();
    server.receive(&raw(CommandId::DELIVER_SM_RESP, 0, 3, b"\0"), later);
    assert_eq!(told(&mut server, later), ["answered 4 deliver_sm_resp ok 3"]);
    assert_eq!(server.window_free(), 10);
}

#[test]
fn an_unanswered_unbind_ends_after_5_s() {
    let unbind: fn(&mut Session<u32>, Moment) = |session, now| session.unbind(now);
    let closed = "closed: we unbound without an answer";
    for session in [bound_client(), bound_server(BindType::Transceiver, VERSION_3_4)] {
        let mut session = session;
        unbind(&mut session, START);
        assert_eq!(written(&mut session).len(), 1);
        play(session, &[At { ms: 5_000, does: due, events: &[closed], output: &[] }]);
    }
    // With an answer open, a client waits for it first.
    play(
        bound_client(),
        &[
            At { ms: 0, does: submits, events: &[], output: &["submit_sm ok 2"] },
            At { ms: 1_000, does: unbind, events: &[], output: &[] },
            At { ms: 6_000, does: due, events: &[], output: &["unbind ok 3"] },
            At { ms: 11_000, does: due, events: &["lost [1]", closed], output: &[] },
        ],
    );
}

#[test]
fn a_client_unbinds_when_the_last_open_request_times_out() {
    let mut config = ClientConfig::standard();
    config.limits.response_ms = 2_000;
    let unbind: fn(&mut Session<u32>, Moment) = |session, now| session.unbind(now);
    let agreed: fn(&mut Session<u32>, Moment) =
        |session, now| session.receive(&raw(CommandId::UNBIND_RESP, 0, 3, b""), now);
    play(
        bound_client_with(config, BindType::Transceiver),
        &[
            At { ms: 0, does: submits, events: &[], output: &["submit_sm ok 2"] },
            At { ms: 1_000, does: unbind, events: &[], output: &[] },
            At { ms: 2_000, does: due, events: &["timed out 1 under 2"], output: &["unbind ok 3"] },
            // Until the peer has agreed, a late answer is still an answer.
            At { ms: 2_001, does: late, events: &["late 2 submit_sm_resp ok 2"], output: &[] },
            At { ms: 2_002, does: agreed, events: &["closed: we unbound"], output: &[] },
            At { ms: 2_003, does: late, events: &[], output: &[] },
        ],
    );
}

#[test]
fn a_peers_unbind_is_answered_after_5_s_even_if_work_is_left() {
    let submit_and_unbind: fn(&mut Session<u32>, Moment) = |session, now| {
        session.receive(&octets(&submit(), 7), now);
        session.receive(&raw(CommandId::UNBIND, 0, 8, b""), now);
    };
    play(
        bound_server(BindType::Transceiver, VERSION_3_4),
        &[
            At {
                ms: 0,
                does: submit_and_unbind,
                events: &["request submit_sm ok 7", "peer unbound"],
                output: &[],
            },
            At { ms: 5_000, does: due, events: &["closed: the peer unbound"], output: &["unbind_resp ok 8"] },
        ],
    );
}

#[test]
fn a_clock_that_slips_back_does_no_harm() {
    let mut client = bound_client();
    client.request(&submit(), 1, Moment(50_000)).unwrap();
    client.request(&submit(), 2, Moment(0)).unwrap();
    client.on_deadline(Moment(110_000));
    let events = told(&mut client, Moment(0));
    assert_eq!(&events[..2], ["timed out 1 under 2", "timed out 2 under 3"]);
}
