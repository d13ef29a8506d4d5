//! Sessions end to end, one side at a time: binding, windows, back-pressure, wrong states and the ways to
//! part.

use super::testing::*;
use super::*;
use crate::*;

fn request(command: CommandId, sequence: u32) -> Header {
    Header::parse(&raw(command, 0, sequence, b"")).unwrap()
}

#[test]
fn a_server_hands_the_bind_over_and_reads_nothing_behind_it() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    let bind = Bind { system_id: b"acme", interface_version: VERSION_3_4, ..Bind::default() };
    let octets = [octets(&Pdu::Bind(BindType::Transceiver, bind), 1), octets(&submit(), 2)].concat();
    check(&mut server, &octets, START, &["bind requested 1"], &[]);
    assert!(!server.may_read());
    assert_eq!(server.state(), State::Binding);
    server.accept_bind(&acceptance(), START).unwrap();
    check(&mut server, b"", START, &["request submit_sm ok 2"], &["bind_transceiver_resp ok 1"]);
    assert!(server.may_read());
    assert_eq!(server.accept_bind(&acceptance(), START), Err(AnswerRefused::NotOpen));
}

#[test]
fn the_bind_answer_names_our_version_to_3_4_clients_only() {
    for (version, tlvs) in [(0x00, None), (0x33, None), (0x34, Some(0x34)), (0x50, Some(0x34))] {
        let mut server = Session::<u32>::server(ServerConfig::standard(), START);
        let bind = Bind { system_id: b"acme", interface_version: version, ..Bind::default() };
        server.receive(&octets(&Pdu::Bind(BindType::Receiver, bind), 1), START);
        assert!(server.next_event(START).is_some());
        server.accept_bind(&acceptance(), START).unwrap();
        let frame = next_frame(server.output(), 16_384).unwrap().unwrap();
        let Ok(Pdu::BindResp(BindType::Receiver, answer)) = frame.decode() else { panic!("a bind answer") };
        assert_eq!((answer.system_id, answer.sc_interface_version()), (&b"hermod"[..], tlvs));
        assert_eq!(server.peer_is_3_4(), tlvs.is_some());
    }
}

#[test]
fn a_refused_bind_closes_with_its_header_alone() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    server.receive(&octets(&Pdu::Bind(BindType::Transmitter, Bind::default()), 3), START);
    assert!(server.next_event(START).is_some());
    server.refuse_bind(CommandStatus::INVPASWD, START).unwrap();
    let closed = "closed: the bind was refused with ESME_RINVPASWD (0x0e)";
    check(&mut server, b"", START, &[closed], &["bind_transmitter_resp 0e 3"]);
    assert_eq!(server.next_deadline(), None);
}

#[test]
fn a_client_is_bound_only_by_the_answer_to_its_own_bind() {
    let new = || {
        let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
        let mut client = Session::<u32>::client(ClientConfig::standard(), &bind, START).unwrap();
        assert_eq!(written(&mut client), ["bind_transceiver ok 1"]);
        client
    };
    let answer = |status, sequence| raw(CommandId::BIND_TRANSCEIVER_RESP, status, sequence, b"");
    let refused = "closed: the bind was refused with ESME_RALYBND (0x05)";

    check(&mut new(), &answer(0, 1), START, &["bound Transceiver"], &[]);
    // Kannel takes "already bound" for success; we do not.
    check(&mut new(), &answer(5, 1), START, &["bind refused 05", refused], &[]);
    let nack = raw(CommandId::GENERIC_NACK, 3, 1, b"");
    let nacked = "closed: the bind was refused with ESME_RINVCMDID (0x03)";
    check(&mut new(), &nack, START, &["bind refused 03", nacked], &[]);

    let mut client = new();
    check(&mut client, &answer(0, 2), START, &[], &[]);
    check(&mut client, &raw(CommandId::BIND_RECEIVER_RESP, 0, 1, b""), START, &[], &[]);
    check(&mut client, &octets(&deliver(), 9), START, &[], &["deliver_sm_resp 04 9"]);
    check(&mut client, &raw(CommandId::ENQUIRE_LINK, 0, 8, b""), START, &[], &["enquire_link_resp ok 8"]);
    assert_eq!(client.request(&submit(), 1, START), Err(Refused::NotBound));
    assert_eq!((client.state(), client.counters().unmatched_answers), (State::Binding, 2));
}

#[test]
fn a_bind_that_does_not_fit_is_not_sent() {
    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"123456789");
    let refused = Session::<u32>::client(ClientConfig::standard(), &bind, START).err();
    assert_eq!(refused, Some(EncodeError { field: "password", why: Unfit::TooLong }));
}

#[test]
fn the_window_fills_and_each_answer_frees_one_slot() {
    let mut client = bound_client();
    for token in 0..10 {
        assert_eq!(client.request(&submit(), token, START), Ok(token + 2));
    }
    assert_eq!(client.window_free(), 0);
    assert_eq!(client.request(&submit(), 10, START), Err(Refused::WindowFull));
    assert_eq!(written(&mut client).len(), 10);

    let answers = [octets(&accepted(), 11), raw(CommandId::SUBMIT_SM_RESP, 0x58, 2, b"")].concat();
    let events = ["answered 9 submit_sm_resp ok 11", "answered 0 submit_sm_resp 58 2"];
    check(&mut client, &answers, START, &events, &[]);
    let nack = raw(CommandId::GENERIC_NACK, 2, 3, b"");
    check(&mut client, &nack, START, &["answered 1 generic_nack 02 3"], &[]);
    // Doubled, mismatched and foreign answers free nothing.
    check(&mut client, &answers, START, &[], &[]);
    check(&mut client, &raw(CommandId::DATA_SM_RESP, 0, 4, b"\0"), START, &[], &[]);
    check(&mut client, &octets(&accepted(), 77), START, &[], &[]);
    assert_eq!((client.window_free(), client.counters().unmatched_answers), (3, 4));
}

#[test]
fn sequences_start_again_after_the_highest() {
    let mut client = bound_client();
    client.next_sequence = SEQUENCE_MAX;
    let sequences = [1, 2, 3].map(|token| client.request(&submit(), token, START).unwrap());
    assert_eq!(sequences, [SEQUENCE_MAX, 1, 2]);
    client.output().clear();
    check(&mut client, &octets(&accepted(), 1), START, &["answered 2 submit_sm_resp ok 1"], &[]);
    check(
        &mut client,
        &octets(&accepted(), SEQUENCE_MAX),
        START,
        &["answered 1 submit_sm_resp ok 2147483647"],
        &[],
    );
}

#[test]
fn requests_keep_to_the_bind_and_to_their_fields() {
    let mut receiver = bound_client_with(ClientConfig::standard(), BindType::Receiver);
    assert_eq!(receiver.request(&submit(), 1, START), Err(Refused::NotAllowed));
    let mut client = bound_client();
    assert_eq!(client.request(&deliver(), 1, START), Err(Refused::NotAllowed));
    assert_eq!(client.request(&Pdu::EnquireLink, 1, START), Err(Refused::NotAllowed));
    let long = Pdu::SubmitSm(SubmitSm { service_type: b"too-long", ..SubmitSm::default() });
    let why = EncodeError { field: "service_type", why: Unfit::TooLong };
    assert_eq!(client.request(&long, 1, START), Err(Refused::Encode(why)));
    assert!(client.output().is_empty());
    assert_eq!((client.outstanding(), client.request(&submit(), 1, START)), (0, Ok(2)));
}

#[test]
fn a_full_inbound_window_stops_reading_but_not_enquiries_and_answers() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    server.request(&deliver(), 5, START).unwrap();
    server.output().clear();
    let mut octets: Vec<u8> = (1..=10).flat_map(|sequence| octets(&submit(), sequence)).collect();
    octets.extend(raw(CommandId::ENQUIRE_LINK, 0, 11, b""));
    octets.extend(raw(CommandId::DELIVER_SM_RESP, 0, 1, b"\0"));
    server.receive(&octets, START);
    let events = told(&mut server, START);
    assert_eq!(events.len(), 11);
    assert_eq!(events[10], "answered 5 deliver_sm_resp ok 1");
    assert_eq!(written(&mut server), ["enquire_link_resp ok 11"]);
    assert!(server.may_read(), "the window is full, but nothing waits behind it");

    check(&mut server, &self::octets(&submit(), 12), START, &[], &[]);
    assert!(!server.may_read());
    server.answer(request(CommandId::SUBMIT_SM, 4), &accepted(), START).unwrap();
    check(&mut server, b"", START, &["request submit_sm ok 12"], &["submit_sm_resp ok 4"]);
    assert!(server.may_read());
}

fn octets(pdu: &Pdu<'_>, sequence: u32) -> Vec<u8> {
    testing::octets(pdu, sequence)
}

#[test]
fn a_peer_that_takes_no_answers_is_not_read_from() {
    let mut config = ServerConfig::standard();
    config.limits.output_bytes_max = 64;
    let mut server = bound_server_with(config, BindType::Transceiver, VERSION_3_4);
    let enquiries: Vec<u8> = (1..=6).flat_map(|n| raw(CommandId::ENQUIRE_LINK, 0, n, b"")).collect();
    server.receive(&enquiries, START);
    assert_eq!(told(&mut server, START), [""; 0]);
    assert!(!server.may_read());
    assert_eq!(server.output().len(), 64);
    server.output().clear();
    check(&mut server, b"", START, &[], &["enquire_link_resp ok 5", "enquire_link_resp ok 6"]);
    assert!(server.may_read());
}

#[test]
fn a_request_is_answered_once_and_by_its_own_answer() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    check(&mut server, &octets(&submit(), 7), START, &["request submit_sm ok 7"], &[]);
    let seven = request(CommandId::SUBMIT_SM, 7);
    let data = Pdu::DataSmResp(DataSmResp::default());
    assert_eq!(server.answer(seven, &data, START), Err(AnswerRefused::Mismatched));
    let long = [b'1'; 65];
    let long = Pdu::SubmitSmResp(SubmitSmResp { message_id: &long, ..SubmitSmResp::default() });
    assert!(matches!(server.answer(seven, &long, START), Err(AnswerRefused::Encode(_))));
    assert_eq!(server.inbound_open(), 1);
    server.refuse(seven, CommandStatus::THROTTLED, START).unwrap();
    assert_eq!(server.refuse(seven, CommandStatus::THROTTLED, START), Err(AnswerRefused::NotOpen));
    assert_eq!(server.answer(seven, &accepted(), START), Err(AnswerRefused::NotOpen));
    assert_eq!(written(&mut server), ["submit_sm_resp 58 7"]);
}

#[test]
fn ten_wrong_state_requests_in_a_minute_end_the_session() {
    let mut server = bound_server(BindType::Receiver, VERSION_3_4);
    for sequence in 1..=9 {
        let answer = format!("submit_sm_resp 04 {sequence}");
        check(&mut server, &octets(&submit(), sequence), START, &[], &[&answer]);
    }
    check(&mut server, &octets(&submit(), 10), START, &[], &["submit_sm_resp 04 10", "unbind ok 1"]);
    let agreed = raw(CommandId::UNBIND_RESP, 0, 1, b"");
    check(&mut server, &agreed, START, &["closed: too many requests in a wrong state"], &[]);

    let mut open = Session::<u32>::server(ServerConfig::standard(), START);
    for sequence in 1..=9 {
        let answer = format!("submit_sm_resp 04 {sequence}");
        check(&mut open, &octets(&submit(), sequence), START, &[], &[&answer]);
    }
    let closed = "closed: too many requests in a wrong state";
    check(&mut open, &octets(&submit(), 10), START, &[closed], &["submit_sm_resp 04 10"]);
}

#[test]
fn a_clients_unbind_waits_for_what_the_server_has_read() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    server.request(&deliver(), 5, START).unwrap();
    server.output().clear();
    let octets = [octets(&submit(), 7), raw(CommandId::UNBIND, 0, 8, b"")].concat();
    check(&mut server, &octets, START, &["request submit_sm ok 7", "peer unbound"], &[]);
    assert!(!server.may_read());
    assert_eq!(server.request(&deliver(), 6, START), Err(Refused::Draining));
    server.answer(request(CommandId::SUBMIT_SM, 7), &accepted(), START).unwrap();
    let events = ["lost [5]", "closed: the peer unbound"];
    check(&mut server, b"", START, &events, &["submit_sm_resp ok 7", "unbind_resp ok 8"]);
}

#[test]
fn an_unbind_before_any_bind_is_refused_and_closed() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    let unbind = raw(CommandId::UNBIND, 0, 4, b"");
    check(&mut server, &unbind, START, &["closed: the peer unbound"], &["unbind_resp 04 4"]);
}

#[test]
fn a_draining_server_answers_by_its_own_column() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    check(&mut server, &octets(&submit(), 6), START, &["request submit_sm ok 6"], &[]);
    server.unbind(START);
    assert_eq!(written(&mut server), ["unbind ok 1"]);
    check(&mut server, &octets(&submit(), 7), START, &[], &["submit_sm_resp 58 7"]);
    check(&mut server, &raw(CommandId::UNBIND, 0, 8, b""), START, &[], &["unbind_resp ok 8"]);
    let query = Pdu::QuerySm(QuerySm { message_id: b"42", ..QuerySm::default() });
    check(&mut server, &octets(&query, 9), START, &["request query_sm ok 9"], &[]);
    server.refuse(request(CommandId::QUERY_SM, 9), CommandStatus::INVMSGID, START).unwrap();
    check(&mut server, &raw(CommandId::UNBIND_RESP, 0, 1, b""), START, &[], &["query_sm_resp 0c 9"]);
    // The one still open is waited for, although the client has agreed.
    server.answer(request(CommandId::SUBMIT_SM, 6), &accepted(), START).unwrap();
    check(&mut server, b"", START, &["closed: we unbound"], &["submit_sm_resp ok 6"]);
    assert_eq!(server.counters().wrong_state, 0, "to refuse while draining is our doing");
}

#[test]
fn a_client_unbinds_after_its_last_answer() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.unbind(START);
    assert_eq!(written(&mut client), ["submit_sm ok 2"]);
    assert_eq!(client.request(&submit(), 2, START), Err(Refused::Draining));
    check(&mut client, &octets(&accepted(), 2), START, &["answered 1 submit_sm_resp ok 2"], &["unbind ok 3"]);
    // A receipt that crosses it is still taken.
    check(&mut client, &octets(&deliver(), 40), START, &["request deliver_sm ok 40"], &[]);
    client
        .answer(request(CommandId::DELIVER_SM, 40), &Pdu::DeliverSmResp(DeliverSmResp::default()), START)
        .unwrap();
    let agreed = raw(CommandId::UNBIND_RESP, 0, 3, b"");
    check(&mut client, &agreed, START, &["closed: we unbound"], &["deliver_sm_resp ok 40"]);
    assert_eq!(client.request(&submit(), 3, START), Err(Refused::Closed));
}

#[test]
fn a_carriers_unbind_is_answered_at_once_and_its_last_answers_are_read() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.request(&submit(), 2, START).unwrap();
    client.output().clear();
    let unbind = raw(CommandId::UNBIND, 0, 50, b"");
    check(&mut client, &unbind, START, &["peer unbound"], &["unbind_resp ok 50"]);
    assert_eq!(client.window_free(), 0);
    check(&mut client, &octets(&accepted(), 2), START, &["answered 1 submit_sm_resp ok 2"], &[]);
    client.connection_lost(START);
    check(&mut client, b"", START, &["lost [2]", "closed: the peer unbound"], &[]);

    let mut idle = bound_client();
    check(&mut idle, &unbind, START, &["peer unbound", "closed: the peer unbound"], &["unbind_resp ok 50"]);
}

#[test]
fn both_may_unbind_at_once() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.unbind(START);
    client.output().clear();
    let unbind = raw(CommandId::UNBIND, 0, 50, b"");
    check(&mut client, &unbind, START, &["peer unbound"], &["unbind_resp ok 50"]);
    let events = ["answered 1 submit_sm_resp ok 2", "closed: the peer unbound"];
    check(&mut client, &octets(&accepted(), 2), START, &events, &[]);
}

#[test]
fn a_lost_connection_reports_what_is_in_doubt() {
    let mut client = bound_client();
    for token in [7, 8, 9] {
        client.request(&submit(), token, START).unwrap();
    }
    client.output().clear();
    check(&mut client, &octets(&accepted(), 3), START, &["answered 8 submit_sm_resp ok 3"], &[]);
    client.connection_lost(START);
    client.connection_lost(START);
    check(&mut client, b"late", START, &["lost [7, 9]", "closed: the connection was lost"], &[]);
    assert_eq!((client.state(), client.next_deadline()), (State::Closed, None));
}

#[test]
fn answers_that_came_before_the_connection_broke_are_taken() {
    let mut config = ClientConfig::standard();
    config.limits.inbound_max = 1;
    let mut client = bound_client_with(config, BindType::Transceiver);
    for token in [1, 2] {
        client.request(&submit(), token, START).unwrap();
    }
    client.output().clear();
    // The second delivery has to wait for the first, and the answer waits behind it.
    let octets = [octets(&deliver(), 7), octets(&deliver(), 8), octets(&accepted(), 2)].concat();
    check(&mut client, &octets, START, &["request deliver_sm ok 7"], &[]);
    client.connection_lost(START);
    let events = ["answered 1 submit_sm_resp ok 2", "lost [2]", "closed: the connection was lost"];
    check(&mut client, b"", START, &events, &[]);

    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
    let mut refused = Session::<u32>::client(ClientConfig::standard(), &bind, START).unwrap();
    refused.output().clear();
    refused.receive(&raw(CommandId::BIND_TRANSCEIVER_RESP, 0x0e, 1, b""), START);
    refused.connection_lost(START);
    let closed = "closed: the bind was refused with ESME_RINVPASWD (0x0e)";
    check(&mut refused, b"", START, &["bind refused 0e", closed], &[]);
}

#[test]
fn notifications_reach_the_application_unanswered() {
    let mut client = bound_client();
    let alert = Pdu::AlertNotification(AlertNotification::default());
    check(&mut client, &octets(&alert, 4), START, &["notification alert_notification ok 4"], &[]);
    check(&mut client, &raw(CommandId::ALERT_NOTIFICATION, 0, 5, b""), START, &[], &["generic_nack 02 5"]);
}
