//! Sessions from bind to unbind: windows, back-pressure, wrong states and all ways to end.

use super::*;
use crate::session::*;

#[test]
fn server_reads_nothing_while_the_bind_is_checked() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    let bind = Bind { system_id: b"acme", interface_version: VERSION_3_4, ..Bind::default() };
    let octets = [octets(&Pdu::Bind(BindType::Transceiver, bind), 1), octets(&submit(), 2)].concat();
    check(&mut server, &octets, START, &["bind requested 1"], &[]);
    assert!(!server.may_read());
    assert_eq!(server.state(), SessionState::Binding);
    server.accept_bind(&acceptance(), START).unwrap();
    check(&mut server, b"", START, &["request submit_sm ok 2"], &["bind_transceiver_resp ok 1"]);
    assert!(server.may_read());
    assert_eq!(server.accept_bind(&acceptance(), START), Err(RespondError::NotOpen));
}

#[test]
fn bind_response_has_our_version_for_3_4_clients_only() {
    for (version, tlvs) in [(0x00, None), (0x33, None), (0x34, Some(0x34)), (0x50, Some(0x34))] {
        let mut server = Session::<u32>::server(ServerConfig::standard(), START);
        let bind = Bind { system_id: b"acme", interface_version: version, ..Bind::default() };
        server.receive(&octets(&Pdu::Bind(BindType::Receiver, bind), 1), START);
        assert!(server.next_event(START).is_some());
        server.accept_bind(&acceptance(), START).unwrap();
        let frame = next_frame(server.output(), 16_384).unwrap().unwrap();
        let Ok(Pdu::BindResp(BindType::Receiver, response)) = frame.decode() else {
            panic!("a bind response")
        };
        assert_eq!((response.system_id, response.sc_interface_version()), (&b"hermod"[..], tlvs));
        assert_eq!(server.peer_is_3_4(), tlvs.is_some());
    }
}

#[test]
fn rejected_bind_closes_without_a_body() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    server.receive(&octets(&Pdu::Bind(BindType::Transmitter, Bind::default()), 3), START);
    assert!(server.next_event(START).is_some());
    server.reject_bind(CommandStatus::INVPASWD, START).unwrap();
    let closed = "closed: the bind was rejected with ESME_RINVPASWD (0x0e)";
    check(&mut server, b"", START, &[closed], &["bind_transmitter_resp 0e 3"]);
    assert_eq!(server.next_deadline(), None);
}

#[test]
fn client_is_bound_only_by_the_response_to_its_own_bind() {
    let new = || {
        let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
        let mut client = Session::<u32>::client(ClientConfig::standard(), &bind, START).unwrap();
        assert_eq!(output_of(&mut client), ["bind_transceiver ok 1"]);
        client
    };
    let response = |status, sequence| raw(CommandId::BIND_TRANSCEIVER_RESP, status, sequence, b"");
    let refused = "closed: the bind was rejected with ESME_RALYBND (0x05)";

    check(&mut new(), &response(0, 1), START, &["bound Transceiver"], &[]);
    // Kannel treats "already bound" as success; Hermod does not.
    check(&mut new(), &response(5, 1), START, &["bind rejected 05", refused], &[]);
    let nack = raw(CommandId::GENERIC_NACK, 3, 1, b"");
    let nacked = "closed: the bind was rejected with ESME_RINVCMDID (0x03)";
    check(&mut new(), &nack, START, &["bind rejected 03", nacked], &[]);

    let mut client = new();
    check(&mut client, &response(0, 2), START, &[], &[]);
    check(&mut client, &raw(CommandId::BIND_RECEIVER_RESP, 0, 1, b""), START, &[], &[]);
    check(&mut client, &octets(&deliver(), 9), START, &[], &["deliver_sm_resp 04 9"]);
    check(&mut client, &raw(CommandId::ENQUIRE_LINK, 0, 8, b""), START, &[], &["enquire_link_resp ok 8"]);
    assert_eq!(client.request(&submit(), 1, START), Err(RequestError::NotBound));
    assert_eq!((client.state(), client.counters().unmatched_responses), (SessionState::Binding, 2));
}

#[test]
fn invalid_bind_is_not_sent() {
    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"123456789");
    let refused = Session::<u32>::client(ClientConfig::standard(), &bind, START).err();
    assert_eq!(refused, Some(EncodeError { field: "password", why: EncodeErrorKind::TooLong }));
}

#[test]
fn window_fills_and_each_response_frees_one_slot() {
    let mut client = bound_client();
    for token in 0..10 {
        assert_eq!(client.request(&submit(), token, START), Ok(token + 2));
    }
    assert_eq!(client.window_free(), 0);
    assert_eq!(client.request(&submit(), 10, START), Err(RequestError::WindowFull));
    assert_eq!(output_of(&mut client).len(), 10);

    let responses = [octets(&accepted(), 11), raw(CommandId::SUBMIT_SM_RESP, 0x58, 2, b"")].concat();
    let events = ["response 9 submit_sm_resp ok 11", "response 0 submit_sm_resp 58 2"];
    check(&mut client, &responses, START, &events, &[]);
    let nack = raw(CommandId::GENERIC_NACK, 2, 3, b"");
    check(&mut client, &nack, START, &["response 1 generic_nack 02 3"], &[]);
    // Duplicate, mismatched and unknown responses free nothing.
    check(&mut client, &responses, START, &[], &[]);
    check(&mut client, &raw(CommandId::DATA_SM_RESP, 0, 4, b"\0"), START, &[], &[]);
    check(&mut client, &octets(&accepted(), 77), START, &[], &[]);
    assert_eq!((client.window_free(), client.counters().unmatched_responses), (3, 4));
}

#[test]
fn sequence_numbers_restart_after_the_highest() {
    let mut client = bound_client();
    client.next_sequence = SEQUENCE_MAX;
    let sequences = [1, 2, 3].map(|token| client.request(&submit(), token, START).unwrap());
    assert_eq!(sequences, [SEQUENCE_MAX, 1, 2]);
    client.output().clear();
    check(&mut client, &octets(&accepted(), 1), START, &["response 2 submit_sm_resp ok 1"], &[]);
    check(
        &mut client,
        &octets(&accepted(), SEQUENCE_MAX),
        START,
        &["response 1 submit_sm_resp ok 2147483647"],
        &[],
    );
}

#[test]
fn requests_are_limited_by_bind_type_and_field_sizes() {
    let mut receiver = bound_client_with(ClientConfig::standard(), BindType::Receiver);
    assert_eq!(receiver.request(&submit(), 1, START), Err(RequestError::NotAllowed));
    let mut client = bound_client();
    assert_eq!(client.request(&deliver(), 1, START), Err(RequestError::NotAllowed));
    assert_eq!(client.request(&Pdu::EnquireLink, 1, START), Err(RequestError::NotAllowed));
    let long = Pdu::SubmitSm(SubmitSm { service_type: b"too-long", ..SubmitSm::default() });
    let why = EncodeError { field: "service_type", why: EncodeErrorKind::TooLong };
    assert_eq!(client.request(&long, 1, START), Err(RequestError::Encode(why)));
    assert!(client.output().is_empty());
    assert_eq!((client.outstanding(), client.request(&submit(), 1, START)), (0, Ok(2)));
}

#[test]
fn full_peer_window_stops_requests_but_not_enquiries_and_responses() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    server.request(&deliver(), 5, START).unwrap();
    server.output().clear();
    let mut octets: Vec<u8> = (1..=10).flat_map(|sequence| octets(&submit(), sequence)).collect();
    octets.extend(raw(CommandId::ENQUIRE_LINK, 0, 11, b""));
    octets.extend(raw(CommandId::DELIVER_SM_RESP, 0, 1, b"\0"));
    server.receive(&octets, START);
    let events = events_of(&mut server, START);
    assert_eq!(events.len(), 11);
    assert_eq!(events[10], "response 5 deliver_sm_resp ok 1");
    assert_eq!(output_of(&mut server), ["enquire_link_resp ok 11"]);
    assert!(server.may_read(), "the window is full, but no request waits");

    check(&mut server, &self::octets(&submit(), 12), START, &[], &[]);
    assert!(!server.may_read());
    server.respond(request(CommandId::SUBMIT_SM, 4), &accepted(), START).unwrap();
    check(&mut server, b"", START, &["request submit_sm ok 12"], &["submit_sm_resp ok 4"]);
    assert!(server.may_read());
}

fn octets(pdu: &Pdu<'_>, sequence: u32) -> Vec<u8> {
    super::octets(pdu, sequence)
}

#[test]
fn session_stops_reading_while_the_output_is_full() {
    let mut config = ServerConfig::standard();
    config.limits.output_bytes_max = 64;
    let mut server = bound_server_with(config, BindType::Transceiver, VERSION_3_4);
    let enquiries: Vec<u8> = (1..=6).flat_map(|n| raw(CommandId::ENQUIRE_LINK, 0, n, b"")).collect();
    server.receive(&enquiries, START);
    assert_eq!(events_of(&mut server, START), [""; 0]);
    assert!(!server.may_read());
    assert_eq!(server.output().len(), 64);
    server.output().clear();
    check(&mut server, b"", START, &[], &["enquire_link_resp ok 5", "enquire_link_resp ok 6"]);
    assert!(server.may_read());
}

#[test]
fn request_gets_one_response_of_its_own_kind() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    check(&mut server, &octets(&submit(), 7), START, &["request submit_sm ok 7"], &[]);
    let seven = request(CommandId::SUBMIT_SM, 7);
    let data = Pdu::DataSmResp(DataSmResp::default());
    assert_eq!(server.respond(seven, &data, START), Err(RespondError::Mismatched));
    let long = [b'1'; 65];
    let long = Pdu::SubmitSmResp(SubmitSmResp { message_id: &long, ..SubmitSmResp::default() });
    assert!(matches!(server.respond(seven, &long, START), Err(RespondError::Encode(_))));
    assert_eq!(server.peer_outstanding(), 1);
    server.reject(seven, CommandStatus::THROTTLED, START).unwrap();
    assert_eq!(server.reject(seven, CommandStatus::THROTTLED, START), Err(RespondError::NotOpen));
    assert_eq!(server.respond(seven, &accepted(), START), Err(RespondError::NotOpen));
    assert_eq!(output_of(&mut server), ["submit_sm_resp 58 7"]);
}

#[test]
fn ten_wrong_state_requests_in_a_minute_end_the_session() {
    let mut server = bound_server(BindType::Receiver, VERSION_3_4);
    for sequence in 1..=9 {
        let response = format!("submit_sm_resp 04 {sequence}");
        check(&mut server, &octets(&submit(), sequence), START, &[], &[&response]);
    }
    check(&mut server, &octets(&submit(), 10), START, &[], &["submit_sm_resp 04 10", "unbind ok 1"]);
    let agreed = raw(CommandId::UNBIND_RESP, 0, 1, b"");
    check(&mut server, &agreed, START, &["closed: too many requests in a wrong state"], &[]);

    let mut open = Session::<u32>::server(ServerConfig::standard(), START);
    for sequence in 1..=9 {
        let response = format!("submit_sm_resp 04 {sequence}");
        check(&mut open, &octets(&submit(), sequence), START, &[], &[&response]);
    }
    let closed = "closed: too many requests in a wrong state";
    check(&mut open, &octets(&submit(), 10), START, &[closed], &["submit_sm_resp 04 10"]);
}

#[test]
fn unbind_of_a_client_waits_for_its_outstanding_requests() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    server.request(&deliver(), 5, START).unwrap();
    server.output().clear();
    let octets = [octets(&submit(), 7), raw(CommandId::UNBIND, 0, 8, b"")].concat();
    check(&mut server, &octets, START, &["request submit_sm ok 7", "peer unbound"], &[]);
    assert!(!server.may_read());
    assert_eq!(server.request(&deliver(), 6, START), Err(RequestError::Draining));
    server.respond(request(CommandId::SUBMIT_SM, 7), &accepted(), START).unwrap();
    let events = ["lost [5]", "closed: the peer unbound"];
    check(&mut server, b"", START, &events, &["submit_sm_resp ok 7", "unbind_resp ok 8"]);
}

#[test]
fn unbind_before_any_bind_is_rejected_and_closed() {
    let mut server = Session::<u32>::server(ServerConfig::standard(), START);
    let unbind = raw(CommandId::UNBIND, 0, 4, b"");
    check(&mut server, &unbind, START, &["closed: the peer unbound"], &["unbind_resp 04 4"]);
}

#[test]
fn draining_server_responds_by_its_own_column() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_4);
    check(&mut server, &octets(&submit(), 6), START, &["request submit_sm ok 6"], &[]);
    server.unbind(START);
    assert_eq!(output_of(&mut server), ["unbind ok 1"]);
    check(&mut server, &octets(&submit(), 7), START, &[], &["submit_sm_resp 58 7"]);
    check(&mut server, &raw(CommandId::UNBIND, 0, 8, b""), START, &[], &["unbind_resp ok 8"]);
    let query = Pdu::QuerySm(QuerySm { message_id: b"42", ..QuerySm::default() });
    check(&mut server, &octets(&query, 9), START, &["request query_sm ok 9"], &[]);
    server.reject(request(CommandId::QUERY_SM, 9), CommandStatus::INVMSGID, START).unwrap();
    check(&mut server, &raw(CommandId::UNBIND_RESP, 0, 1, b""), START, &[], &["query_sm_resp 0c 9"]);
    // The outstanding request is completed, although the client has responded.
    server.respond(request(CommandId::SUBMIT_SM, 6), &accepted(), START).unwrap();
    check(&mut server, b"", START, &["closed: we unbound"], &["submit_sm_resp ok 6"]);
    assert_eq!(server.counters().wrong_state, 0, "to refuse while draining is our doing");
}

#[test]
fn client_unbinds_after_its_last_response() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.unbind(START);
    assert_eq!(output_of(&mut client), ["submit_sm ok 2"]);
    assert_eq!(client.request(&submit(), 2, START), Err(RequestError::Draining));
    check(&mut client, &octets(&accepted(), 2), START, &["response 1 submit_sm_resp ok 2"], &["unbind ok 3"]);
    // A receipt that arrives meanwhile is still accepted.
    check(&mut client, &octets(&deliver(), 40), START, &["request deliver_sm ok 40"], &[]);
    client
        .respond(request(CommandId::DELIVER_SM, 40), &Pdu::DeliverSmResp(DeliverSmResp::default()), START)
        .unwrap();
    let agreed = raw(CommandId::UNBIND_RESP, 0, 3, b"");
    check(&mut client, &agreed, START, &["closed: we unbound"], &["deliver_sm_resp ok 40"]);
    assert_eq!(client.request(&submit(), 3, START), Err(RequestError::Closed));
}

#[test]
fn unbind_of_a_carrier_is_responded_to_at_once_and_its_last_responses_are_read() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.request(&submit(), 2, START).unwrap();
    client.output().clear();
    let unbind = raw(CommandId::UNBIND, 0, 50, b"");
    check(&mut client, &unbind, START, &["peer unbound"], &["unbind_resp ok 50"]);
    assert_eq!(client.window_free(), 0);
    check(&mut client, &octets(&accepted(), 2), START, &["response 1 submit_sm_resp ok 2"], &[]);
    client.connection_lost(START);
    check(&mut client, b"", START, &["lost [2]", "closed: the peer unbound"], &[]);

    let mut idle = bound_client();
    check(&mut idle, &unbind, START, &["peer unbound", "closed: the peer unbound"], &["unbind_resp ok 50"]);
}

#[test]
fn both_sides_may_unbind_at_once() {
    let mut client = bound_client();
    client.request(&submit(), 1, START).unwrap();
    client.unbind(START);
    client.output().clear();
    let unbind = raw(CommandId::UNBIND, 0, 50, b"");
    check(&mut client, &unbind, START, &["peer unbound"], &["unbind_resp ok 50"]);
    let events = ["response 1 submit_sm_resp ok 2", "closed: the peer unbound"];
    check(&mut client, &octets(&accepted(), 2), START, &events, &[]);
}

#[test]
fn lost_connection_reports_requests_in_doubt() {
    let mut client = bound_client();
    for token in [7, 8, 9] {
        client.request(&submit(), token, START).unwrap();
    }
    client.output().clear();
    check(&mut client, &octets(&accepted(), 3), START, &["response 8 submit_sm_resp ok 3"], &[]);
    client.connection_lost(START);
    client.connection_lost(START);
    check(&mut client, b"late", START, &["lost [7, 9]", "closed: the connection was lost"], &[]);
    assert_eq!((client.state(), client.next_deadline()), (SessionState::Closed, None));
}

#[test]
fn responses_before_the_connection_loss_are_processed() {
    let mut config = ClientConfig::standard();
    config.limits.peer_window_max = 1;
    let mut client = bound_client_with(config, BindType::Transceiver);
    for token in [1, 2] {
        client.request(&submit(), token, START).unwrap();
    }
    client.output().clear();
    // The second delivery waits for the first, and the response waits behind it.
    let octets = [octets(&deliver(), 7), octets(&deliver(), 8), octets(&accepted(), 2)].concat();
    check(&mut client, &octets, START, &["request deliver_sm ok 7"], &[]);
    client.connection_lost(START);
    let events = ["response 1 submit_sm_resp ok 2", "lost [2]", "closed: the connection was lost"];
    check(&mut client, b"", START, &events, &[]);

    let bind = BindRequest::new(BindType::Transceiver, b"acme", b"pw");
    let mut refused = Session::<u32>::client(ClientConfig::standard(), &bind, START).unwrap();
    refused.output().clear();
    refused.receive(&raw(CommandId::BIND_TRANSCEIVER_RESP, 0x0e, 1, b""), START);
    refused.connection_lost(START);
    let closed = "closed: the bind was rejected with ESME_RINVPASWD (0x0e)";
    check(&mut refused, b"", START, &["bind rejected 0e", closed], &[]);
}

#[test]
fn notifications_reach_the_application_without_a_response() {
    let mut client = bound_client();
    let alert = Pdu::AlertNotification(AlertNotification::default());
    check(&mut client, &octets(&alert, 4), START, &["notification alert_notification ok 4"], &[]);
    check(&mut client, &raw(CommandId::ALERT_NOTIFICATION, 0, 5, b""), START, &[], &["generic_nack 02 5"]);
}
