//! What a client may send and receives, by bind type and version.

use super::*;
use crate::session::*;

const KINDS: [BindType; 3] = [BindType::Transmitter, BindType::Receiver, BindType::Transceiver];

/// Returns a client bound as `kind` in `version`, whose bind response had this body.
fn bound(kind: BindType, version: u8, body: &[u8]) -> Session<u32> {
    let bind = BindRequest::new(kind, b"acme", b"pw").with_version(version);
    let mut client = Session::client(ClientConfig::standard(), &bind, START).unwrap();
    client.output().clear();
    client.receive(&raw(kind.response(), 0, 1, body), START);
    assert_eq!(events_of(&mut client, START), [format!("bound {kind:?}")]);
    client
}

fn data_sm(class: u8, tlvs: &TlvBuffer) -> Vec<u8> {
    octets(&Pdu::DataSm(DataSm { esm_class: class, tlvs: tlvs.as_tlvs(), ..DataSm::default() }), 9)
}

fn request(command: CommandId) -> Header {
    Header { length: 0, command, status: CommandStatus::OK, sequence: 9 }
}

#[test]
fn bind_has_its_type_and_version() {
    for kind in KINDS {
        for version in [VERSION_3_3, VERSION_3_4, 0x50] {
            let bind = BindRequest::new(kind, b"acme", b"pw").with_version(version);
            let mut client = Session::<u32>::client(ClientConfig::standard(), &bind, START).unwrap();
            let frame = next_frame(client.output(), 16_384).unwrap().unwrap();
            let Ok(Pdu::Bind(sent, fields)) = frame.decode() else { panic!("a bind") };
            assert_eq!((sent, fields.interface_version), (kind, version));
        }
    }
}

/// A server that sends no version is taken for 3.4.
#[test]
fn version_is_the_lower_of_both() {
    let says_3_3 = &b"smsc\0\x02\x10\0\x01\x33"[..];
    let says_3_4 = &b"smsc\0\x02\x10\0\x01\x34"[..];
    let says_5_0 = &b"smsc\0\x02\x10\0\x01\x50"[..];
    let says_nothing = &b"smsc\0"[..];
    let cases = [
        (VERSION_3_4, says_3_4, true),
        (VERSION_3_4, says_5_0, true),
        (VERSION_3_4, says_nothing, true),
        (VERSION_3_4, b"", true),
        (VERSION_3_4, says_3_3, false),
        (0x50, says_3_4, true),
        (0x50, says_3_3, false),
        (VERSION_3_3, says_3_4, false),
        (VERSION_3_3, says_nothing, false),
        (VERSION_3_3, says_3_3, false),
        (0x00, says_3_4, false),
    ];
    for (ours, body, is_3_4) in cases {
        for kind in KINDS {
            assert_eq!(bound(kind, ours, body).peer_is_3_4(), is_3_4, "0x{ours:02x} {body:?} {kind:?}");
        }
    }
}

#[test]
fn only_transmitters_and_transceivers_may_submit() {
    for (kind, expect) in KINDS.into_iter().zip([Ok(2), Err(RequestError::NotAllowed), Ok(2)]) {
        let mut client = bound(kind, VERSION_3_4, b"");
        assert_eq!(client.request(&submit(), 1, START), expect, "{kind:?}");
    }
}

#[test]
fn bind_of_3_3_sends_neither_tlvs_nor_data_sm() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, 7);
    let with_tlv = Pdu::SubmitSm(SubmitSm { tlvs: tlvs.as_tlvs(), ..SubmitSm::default() });
    let data_sm = Pdu::DataSm(DataSm { esm_class: esm_class::RECEIPT, ..DataSm::default() });
    for kind in [BindType::Transmitter, BindType::Transceiver] {
        let mut old = bound(kind, VERSION_3_3, b"");
        assert_eq!(old.request(&with_tlv, 1, START), Err(RequestError::Needs3_4));
        assert_eq!(old.request(&data_sm, 1, START), Err(RequestError::Needs3_4));
        assert_eq!((old.output().len(), old.request(&submit(), 1, START)), (0, Ok(2)));
        let mut new = bound(kind, VERSION_3_4, b"");
        assert_eq!(new.request(&with_tlv, 1, START), Ok(2));
        assert_eq!(new.request(&data_sm, 1, START), Ok(3));
    }
    // Also on a server, in requests and responses.
    let mut server = bound_server(BindType::Transceiver, VERSION_3_3);
    let receipt = Pdu::DeliverSm(DeliverSm { tlvs: tlvs.as_tlvs(), ..DeliverSm::default() });
    assert_eq!(server.request(&receipt, 1, START), Err(RequestError::Needs3_4));
    check(&mut server, &octets(&submit(), 9), START, &["request submit_sm ok 9"], &[]);
    let response = Pdu::SubmitSmResp(SubmitSmResp { message_id: b"42", tlvs: tlvs.as_tlvs() });
    assert_eq!(server.respond(request(CommandId::SUBMIT_SM), &response, START), Err(RespondError::Needs3_4));
    server.respond(request(CommandId::SUBMIT_SM), &accepted(), START).unwrap();
}

/// Some carriers send receipts on a transmitter bind, as `data_sm`, or on a 3.3 bind.
#[test]
fn receipts_are_accepted_on_every_bind_type_and_version() {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_c_string(Tag::RECEIPTED_MESSAGE_ID, b"77").push_u8(Tag::MESSAGE_STATE, 2);
    let alert = octets(&Pdu::AlertNotification(AlertNotification::default()), 9);
    for kind in KINDS {
        for version in [VERSION_3_3, VERSION_3_4] {
            let mut client = bound(kind, version, b"");
            check(&mut client, &octets(&deliver(), 9), START, &["request deliver_sm ok 9"], &[]);
            let response = Pdu::DeliverSmResp(DeliverSmResp::default());
            client.respond(request(CommandId::DELIVER_SM), &response, START).unwrap();
            assert_eq!(output_of(&mut client), ["deliver_sm_resp ok 9"]);

            client.receive(&data_sm(esm_class::RECEIPT, &tlvs), START);
            let Some(SessionEvent::Request(frame)) = client.next_event(START) else { panic!("a request") };
            let Ok(Pdu::DataSm(receipt)) = frame.decode() else { panic!("a data_sm") };
            assert_eq!(
                read_data_sm_receipt(&receipt, ReceiptDialect::Standard).unwrap().message_id,
                Some(&b"77"[..])
            );
            client.respond(frame.header, &Pdu::DataSmResp(DataSmResp::default()), START).unwrap();
            assert_eq!(output_of(&mut client), ["data_sm_resp ok 9"]);

            check(&mut client, &alert, START, &["notification alert_notification ok 9"], &[]);
            assert_eq!(client.counters().wrong_state, 0, "{kind:?} 0x{version:02x}");
        }
    }
}
