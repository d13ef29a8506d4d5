//! How a server responds to malformed PDUs: the contract's rows on framing and decoding, one test each.

use super::*;
use crate::session::*;

fn server() -> Session<u32> {
    bound_server(BindType::Transceiver, VERSION_3_4)
}

/// Encodes a submit_sm with this tail after `sm_default_msg_id`.
fn submit_with(tail: &[u8]) -> Vec<u8> {
    let mut body = b"\0\x05\0Hermod\0\x01\x01491701234567\0\0\0\0\0\0\0\0\0\0".to_vec();
    body.extend_from_slice(tail);
    raw(CommandId::SUBMIT_SM, 0, 7, &body)
}

/// Compares the response, and checks that the session continues.
#[track_caller]
fn check_and_continue(octets: &[u8], output: &[&str]) {
    let mut server = server();
    check(&mut server, octets, START, &[], output);
    check(&mut server, &octets_of_enquiry(), START, &[], &["enquire_link_resp ok 99"]);
}

fn octets_of_enquiry() -> Vec<u8> {
    raw(CommandId::ENQUIRE_LINK, 0, 99, b"")
}

#[test]
fn invalid_command_length_is_nacked_and_closes_the_session() {
    let cases: [(&[u8], &str, &str); 4] = [
        (b"HTTP", "generic_nack 02 0", "closed: invalid command_length 1213486160"),
        (b"AMQP\0\0\x09\x01", "generic_nack 02 0", "closed: invalid command_length 1095586128"),
        (
            &[0, 0, 0, 15, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 7],
            "generic_nack 02 7",
            "closed: invalid command_length 15",
        ),
        (
            &[0, 0, 64, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8],
            "generic_nack 02 8",
            "closed: invalid command_length 16385",
        ),
    ];
    for (octets, nack, closed) in cases {
        for mut session in [Session::<u32>::server(ServerConfig::standard(), START), server(), bound_client()]
        {
            check(&mut session, octets, START, &[closed], &[nack]);
            check(&mut session, &octets_of_enquiry(), START, &[], &[]);
        }
    }
}

#[test]
fn unknown_requests_are_nacked_and_ten_in_a_minute_close_the_session() {
    let mut server = server();
    for sequence in 1..=9 {
        let octets = raw(CommandId(0x0001_0200), 0, sequence, b"body");
        check(&mut server, &octets, START, &[], &[&format!("generic_nack 03 {sequence}")]);
    }
    let octets = raw(CommandId(0x0001_0200), 0, 10, b"");
    check(&mut server, &octets, START, &["closed: too many unknown commands"], &["generic_nack 03 10"]);
}

#[test]
fn unknown_responses_and_nacks_are_counted_and_never_nacked() {
    let mut server = server();
    for command in [CommandId(0x8000_0111), CommandId::SUBMIT_SM_RESP, CommandId::DELIVER_SM_RESP] {
        check(&mut server, &raw(command, 0, 5, b"\0"), START, &[], &[]);
    }
    check(&mut server, &raw(CommandId::GENERIC_NACK, 3, 5, b""), START, &[], &[]);
    assert_eq!(server.counters().unmatched_responses, 4);
}

#[test]
fn known_command_in_the_wrong_direction_gets_its_own_response() {
    check_and_continue(&octets(&deliver(), 7), &["deliver_sm_resp 03 7"]);
}

#[test]
fn short_body_is_an_invalid_length_and_the_session_continues() {
    check_and_continue(&raw(CommandId::SUBMIT_SM, 0, 7, b""), &["submit_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::SUBMIT_SM, 0, 7, b"\0\x05\0Herm"), &["submit_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::QUERY_SM, 0, 7, b"42"), &["query_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::CANCEL_SM, 0, 7, b"\0"), &["cancel_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::REPLACE_SM, 0, 7, b"\0"), &["replace_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::DATA_SM, 0, 7, b"\0"), &["data_sm_resp 02 7"]);
    check_and_continue(&raw(CommandId::SUBMIT_MULTI, 0, 7, b"\0"), &["submit_multi_resp 02 7"]);
}

#[test]
fn text_longer_than_the_body_is_an_invalid_message_length() {
    check_and_continue(&submit_with(b"\x05hi"), &["submit_sm_resp 01 7"]);
    check_and_continue(&submit_with(&[255; 256]), &["submit_sm_resp 01 7"]);
}

#[test]
fn unterminated_string_gets_the_status_of_its_field() {
    let fill = |before: &[u8], count: usize| [before, &vec![b'1'; count]].concat();
    let cases = [
        (CommandId::SUBMIT_SM, fill(b"", 6), "submit_sm_resp 15 7"),
        (CommandId::SUBMIT_SM, fill(b"\0\0\0", 21), "submit_sm_resp 0a 7"),
        (CommandId::SUBMIT_SM, fill(b"\0\0\0\0\0\0", 21), "submit_sm_resp 0b 7"),
        (CommandId::SUBMIT_SM, fill(b"\0\0\0\0\0\0\0\0\0\0", 17), "submit_sm_resp 61 7"),
        (CommandId::SUBMIT_SM, fill(b"\0\0\0\0\0\0\0\0\0\0\0", 17), "submit_sm_resp 62 7"),
        (CommandId::QUERY_SM, fill(b"", 65), "query_sm_resp 0c 7"),
    ];
    for (command, body, response) in cases {
        check_and_continue(&raw(command, 0, 7, &body), &[response]);
    }
}

#[test]
fn destination_list_has_1_to_254_entries_of_two_kinds() {
    let list = |count: u8, entries: &[u8]| [&b"\0\0\0\0"[..], &[count], entries].concat();
    let cases = [
        (list(0, b""), "submit_multi_resp 33 7"),
        (list(255, &b"\x01\x01\x01491\0".repeat(255)), "submit_multi_resp 33 7"),
        (list(1, b"\x03"), "submit_multi_resp 40 7"),
        (list(1, &[b"\x02".as_slice(), &[b'a'; 21]].concat()), "submit_multi_resp 34 7"),
        (list(2, b"\x01\x01\x01491\0"), "submit_multi_resp 02 7"),
    ];
    for (body, response) in cases {
        check_and_continue(&raw(CommandId::SUBMIT_MULTI, 0, 7, &body), &[response]);
    }
}

#[test]
fn bind_with_an_unterminated_string_is_rejected_and_closed() {
    let fill = |before: &[u8], count: usize| [before, &vec![b'1'; count]].concat();
    let cases = [
        (fill(b"", 16), "bind_transceiver_resp 0f 7"),
        (fill(b"acme\0", 9), "bind_transceiver_resp 0e 7"),
        (fill(b"acme\0pw\0", 13), "bind_transceiver_resp 53 7"),
        (b"acme\0pw\0".to_vec(), "bind_transceiver_resp 02 7"),
    ];
    for (body, response) in cases {
        let mut server = Session::<u32>::server(ServerConfig::standard(), START);
        server.receive(&raw(CommandId::BIND_TRANSCEIVER, 0, 7, &body), START);
        assert!(matches!(server.next_event(START), Some(SessionEvent::Closed(CloseReason::BadBind(_)))));
        assert_eq!(output_of(&mut server), [response]);
        assert_eq!(server.state(), SessionState::Closed);
    }
}

#[test]
fn unusual_sequence_numbers_are_accepted_and_echoed() {
    let mut server = server();
    for sequence in [0, 0x8000_0000, u32::MAX, 7, 7] {
        let words = format!("request submit_sm ok {sequence}");
        check(&mut server, &octets(&submit(), sequence), START, &[&words], &[]);
    }
    assert_eq!(server.counters().odd_sequences, 3);
    for sequence in [7, 7, u32::MAX, 0, 0x8000_0000] {
        let request = Header::parse(&raw(CommandId::SUBMIT_SM, 0, sequence, b"")).unwrap();
        server.respond(request, &accepted(), START).unwrap();
        assert_eq!(output_of(&mut server), [format!("submit_sm_resp ok {sequence}")]);
    }
    assert_eq!(server.peer_outstanding(), 0);
}

#[test]
fn status_in_a_request_is_ignored() {
    let mut octets = octets(&submit(), 7);
    octets[8..12].copy_from_slice(&0x45u32.to_be_bytes());
    check(&mut server(), &octets, START, &["request submit_sm 45 7"], &[]);
}

#[test]
fn broken_tlv_stream_is_rejected() {
    check_and_continue(&submit_with(b"\x02hi\x02\x04\0"), &["submit_sm_resp c0 7"]);
    check_and_continue(&submit_with(b"\x02hi\x02\x04\0\x03\0\x01"), &["submit_sm_resp c0 7"]);
}

#[test]
fn unknown_and_misplaced_tlvs_are_ignored() {
    let octets = submit_with(b"\x02hi\x14\x03\0\x01\xff\x04\x27\0\x02\x02\x02");
    check(&mut server(), &octets, START, &["request submit_sm ok 7"], &[]);
}

#[test]
fn known_tlv_is_checked_for_length_value_and_presence() {
    check_and_continue(&submit_with(b"\x02hi\x02\x04\0\x01\x07"), &["submit_sm_resp c2 7"]);
    check_and_continue(&submit_with(b"\x02hi\0\x05\0\x02\x01\x01"), &["submit_sm_resp c2 7"]);
    check_and_continue(&submit_with(b"\x02hi\x03\x81\0\x03\x01\x01\x01"), &["submit_sm_resp c2 7"]);
    check_and_continue(&submit_with(b"\x02hi\x02\x0e\0\x01\0"), &["submit_sm_resp c4 7"]);
    let data_sm = b"\0\x05\0Hermod\0\x01\x01491701234567\0\0\0\0";
    check_and_continue(&raw(CommandId::DATA_SM, 0, 7, data_sm), &["data_sm_resp c3 7"]);
}

#[test]
fn first_of_a_repeated_tlv_counts() {
    let octets = submit_with(b"\0\x04\x24\0\x02hi\x04\x24\0\x02ho\x02\x04\0\x02\0\x01\x02\x04\0\x02\0\x02");
    let mut server = server();
    server.receive(&octets, START);
    let Some(SessionEvent::Request(frame)) = server.next_event(START) else { panic!("a request") };
    let Ok(Pdu::SubmitSm(submit)) = frame.decode() else { panic!("a submit_sm") };
    assert_eq!(submit.text(), Hidden(b"hi"));
    assert_eq!(submit.tlvs.get_u16(Tag::USER_MESSAGE_REFERENCE), Some(1));
}

#[test]
fn bind_of_3_3_gets_no_3_4_statuses_and_no_data_sm() {
    let mut server = bound_server(BindType::Transceiver, VERSION_3_3);
    check(&mut server, &submit_with(b"\x02hi\x02\x04\0\x01\x07"), START, &[], &["submit_sm_resp 45 7"]);
    check(&mut server, &submit_with(b"\x02hi\x02\x04\0"), START, &[], &["submit_sm_resp 45 7"]);
    check(&mut server, &submit_with(b"\x02hi\x02\x0e\0\x01\0"), START, &[], &["submit_sm_resp 45 7"]);
    check(&mut server, &raw(CommandId::DATA_SM, 0, 8, b""), START, &[], &["data_sm_resp 03 8"]);
    // Valid TLVs are read nevertheless.
    let with_tlv = submit_with(b"\x02hi\x02\x04\0\x02\0\x07");
    check(&mut server, &with_tlv, START, &["request submit_sm ok 7"], &[]);
}
