//! tshark decodes a recorded session: every PDU has the expected type, and none is malformed.

use super::fixture::{PASSWORD, SENDER, SYSTEM_ID, Stage};
use super::messages::{DESTINATION, REFERENCE};
use super::wire::{Side, Wire};
use super::{pcap, program};
use hermod_smpp::*;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::process::Command;

const INVALID_NUMBER: &[u8] = b"12";

/// (request, response) as tshark names them. `outbind` to a server is invalid and has no response of
/// its own.
const CONVERSATION: [(&str, &str); 13] = [
    ("Bind_transceiver", "Bind_transceiver - resp: \"Ok\""),
    ("Bind_transceiver", "Bind_transceiver - resp: \"ESME already in bound state\""),
    ("Enquire_link", "Enquire_link - resp: \"Ok\""),
    ("Submit_sm", "Submit_sm - resp: \"Ok\""),
    ("Submit_sm", "Submit_sm - resp: \"Invalid destination address\""),
    ("Data_sm", "Data_sm - resp: \"Ok\""),
    ("Query_sm", "Query_sm - resp: \"Ok\""),
    ("Query_sm", "Query_sm - resp: \"Message ID is invalid\""),
    ("Cancel_sm", "Cancel_sm - resp: \"Cancel SM failed\""),
    ("Replace_sm", "Replace_sm - resp: \"Replace SM failed\""),
    ("Submit_multi", "Submit_multi - resp: \"Ok\""),
    ("Outbind", "Generic_nack: \"Invalid command ID\""),
    ("Unbind", "Unbind - resp: \"Ok\""),
];
/// Receipts of the submit_sm, of the data_sm, and of two recipients of the submit_multi.
const RECEIPTS: usize = 4;

#[tokio::test]
async fn tshark_decodes_every_pdu_of_a_session_without_errors() {
    let stage = Stage::set().await;
    let server = stage.plain;
    let mut wire = Wire::connect(server).await;
    run_session(&mut wire).await;
    let read = run_tshark(wire.client(), server, &wire.pdus).await;
    assert_eq!(read.len(), wire.pdus.len(), "one line for each PDU: {read:#?}");
    let (deliveries, rest): (Vec<Line>, Vec<Line>) =
        read.into_iter().partition(|line| line.name.starts_with("Deliver_sm"));
    let names: Vec<_> = rest.iter().map(|line| line.name.as_str()).collect();
    let expect: Vec<_> = CONVERSATION.into_iter().flat_map(|(asked, answered)| [asked, answered]).collect();
    assert_eq!(names, expect);
    for line in deliveries.iter().chain(&rest) {
        assert_eq!(line.complaints, "", "{}", line.name);
    }
    let receipts = deliveries.iter().filter(|line| line.name == "Deliver_sm").collect::<Vec<_>>();
    assert_eq!((receipts.len(), deliveries.len()), (RECEIPTS, 2 * RECEIPTS), "each deliver_sm is answered");
    for receipt in receipts {
        assert!(receipt.receipted.len() >= 10 && receipt.state == "2", "{receipt:?}");
    }
    stage.end().await;
}

#[tokio::test]
async fn tshark_reports_a_malformed_pdu() {
    // A message id without a terminator at the end of its PDU.
    let answer = [0, 0, 0, 20, 0x80, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, b'4', b'7', b'1', b'1'];
    let [client, server] = [40_000, 2775].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let read = run_tshark(client, server, &[(Side::Server, answer.to_vec())]).await;
    assert_eq!(read.len(), 1);
    assert!(read[0].complaints.contains("Malformed"), "{read:?}");
}

/// Sends every request of a client and reads the responses.
async fn run_session(wire: &mut Wire) {
    let bind = Pdu::Bind(
        BindType::Transceiver,
        Bind {
            system_id: SYSTEM_ID.as_bytes(),
            password: Hidden(PASSWORD.as_bytes()),
            interface_version: VERSION_3_4,
            ..Bind::default()
        },
    );
    assert_eq!(wire.request(&bind).await.header.status, CommandStatus::OK);
    wire.request(&bind).await;
    wire.request(&Pdu::EnquireLink).await;
    let id = submit_messages(wire).await;
    wire.take_deliveries(2).await;
    let source = Address::alphanumeric(SENDER.as_bytes());
    for message_id in [&id[..], b"4711"] {
        wire.request(&Pdu::QuerySm(QuerySm { message_id, source })).await;
    }
    let cancel = CancelSm { message_id: &id, source, ..CancelSm::default() };
    wire.request(&Pdu::CancelSm(cancel)).await;
    let replace =
        ReplaceSm { message_id: &id, source, short_message: Hidden(b"other"), ..ReplaceSm::default() };
    wire.request(&Pdu::ReplaceSm(replace)).await;
    submit_to_many(wire).await;
    wire.take_deliveries(RECEIPTS).await;
    wire.request(&Pdu::Outbind(Outbind { system_id: b"smsc", password: Hidden(b"") })).await;
    wire.request(&Pdu::Unbind).await;
    wire.assert_closed().await;
}

/// Submits by submit_sm and data_sm, and one that is rejected. Returns the first id.
async fn submit_messages(wire: &mut Wire) -> Vec<u8> {
    let mut tlvs = TlvBuffer::new();
    tlvs.push_u16(Tag::USER_MESSAGE_REFERENCE, REFERENCE).push_u8(Tag::DEST_ADDR_SUBUNIT, 1);
    let submit = SubmitSm {
        source: Address::alphanumeric(SENDER.as_bytes()),
        destination: Address::international(DESTINATION.as_bytes()),
        validity_period: b"000001000000000R",
        registered_delivery: 1,
        short_message: Hidden(b"as tshark likes it"),
        tlvs: tlvs.as_tlvs(),
        ..SubmitSm::default()
    };
    let answer = wire.request(&Pdu::SubmitSm(submit)).await;
    let id = match answer.decode() {
        Ok(Pdu::SubmitSmResp(answer)) => answer.message_id.to_vec(),
        other => panic!("{other:?}"),
    };
    let unknown = SubmitSm { destination: Address::international(INVALID_NUMBER), ..submit };
    wire.request(&Pdu::SubmitSm(unknown)).await;
    let mut payload = TlvBuffer::new();
    payload.push(Tag::MESSAGE_PAYLOAD, "long enough for two parts ".repeat(8).as_bytes());
    let data = DataSm {
        source: submit.source,
        destination: submit.destination,
        registered_delivery: 1,
        tlvs: payload.as_tlvs(),
        ..DataSm::default()
    };
    wire.request(&Pdu::DataSm(data)).await;
    id
}

async fn submit_to_many(wire: &mut Wire) {
    let mut destinations = DestinationsBuffer::default();
    for digits in [DESTINATION.as_bytes(), b"4915112345679", INVALID_NUMBER] {
        let destination = DestinationEntry::Sme(Address::international(digits));
        destinations.push(destination).expect("three fit");
    }
    let multi = SubmitMulti {
        source: Address::alphanumeric(SENDER.as_bytes()),
        destinations: destinations.as_destinations(),
        registered_delivery: 1,
        short_message: Hidden(b"to all"),
        ..SubmitMulti::default()
    };
    wire.request(&Pdu::SubmitMulti(multi)).await;
}

/// tshark's output for one packet.
#[derive(Debug)]
struct Line {
    name: String,
    /// Malformed or marked by an expert info.
    complaints: String,
    receipted: String,
    state: String,
}

const FIELDS: [&str; 5] = [
    "_ws.col.Info",
    "_ws.malformed",
    "_ws.expert.message",
    "smpp.receipted_message_id",
    "smpp.message_state",
];

async fn run_tshark(client: SocketAddr, server: SocketAddr, said: &[(Side, Vec<u8>)]) -> Vec<Line> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("session.pcap");
    pcap::write(&file, client, server, said);
    let port = format!("tcp.port=={},smpp", server.port());
    let mut command = Command::new(program("tshark"));
    command.args(["-n", "-r"]).arg(file).args(["-d", &port, "-T", "fields", "-E", "separator=|"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    // Without the user's tshark preferences.
    command.env("WIRESHARK_CONFIG_DIR", folder.path());
    let output = command.output().await.expect("tshark starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = said.lines().map(|line| match line.split('|').collect::<Vec<_>>()[..] {
        [name, malformed, remarks, receipted, state] => Line {
            name: name.to_owned(),
            complaints: format!("{malformed}{remarks}"),
            receipted: receipted.to_owned(),
            state: state.to_owned(),
        },
        _ => panic!("{line}"),
    });
    lines.collect()
}
