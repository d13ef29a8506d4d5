//! tshark reads a recorded session: every PDU is what it should be, and none is malformed.

use super::carried::{DESTINATION, REFERENCE};
use super::stage::{PASSWORD, SENDER, SYSTEM_ID, Stage};
use super::wire::{Side, Wire};
use super::{pcap, program};
use hermod_smpp::*;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::process::Command;

const NOBODY: &[u8] = b"12";

/// What was asked, and what was answered, in tshark's words. Nobody may say `outbind` to a server, and it has no answer of
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
/// Of the submit_sm, of the data_sm, and of the two whom the submit_multi reaches.
const RECEIPTS: usize = 4;

#[tokio::test]
async fn tshark_finds_every_pdu_of_a_session_well_formed() {
    let stage = Stage::set().await;
    let server = stage.plain;
    let mut wire = Wire::connect(server).await;
    converses(&mut wire).await;
    let read = reads(wire.client(), server, &wire.said).await;
    assert_eq!(read.len(), wire.said.len(), "one line for each PDU: {read:#?}");
    let (deliveries, rest): (Vec<Line>, Vec<Line>) =
        read.into_iter().partition(|line| line.name.starts_with("Deliver_sm"));
    let names: Vec<_> = rest.iter().map(|line| line.name.as_str()).collect();
    let expect: Vec<_> = CONVERSATION.into_iter().flat_map(|(asked, answered)| [asked, answered]).collect();
    assert_eq!(names, expect);
    for line in deliveries.iter().chain(&rest) {
        assert_eq!(line.complaints, "", "{}", line.name);
    }
    let receipts = deliveries.iter().filter(|line| line.name == "Deliver_sm").collect::<Vec<_>>();
    assert_eq!((receipts.len(), deliveries.len()), (RECEIPTS, 2 * RECEIPTS), "each is answered");
    for receipt in receipts {
        assert!(receipt.receipted.len() >= 10 && receipt.state == "2", "{receipt:?}");
    }
    stage.end().await;
}

#[tokio::test]
async fn tshark_would_say_so_if_one_were_malformed() {
    // A message id that goes on beyond the end of its PDU.
    let answer = [0, 0, 0, 20, 0x80, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, b'4', b'7', b'1', b'1'];
    let [client, server] = [40_000, 2775].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let read = reads(client, server, &[(Side::Server, answer.to_vec())]).await;
    assert_eq!(read.len(), 1);
    assert!(read[0].complaints.contains("Malformed"), "{read:?}");
}

/// Says everything that a client can say, and hears every kind of answer.
async fn converses(wire: &mut Wire) {
    let bind = Pdu::Bind(
        BindType::Transceiver,
        Bind {
            system_id: SYSTEM_ID.as_bytes(),
            password: Hidden(PASSWORD.as_bytes()),
            interface_version: VERSION_3_4,
            ..Bind::default()
        },
    );
    assert_eq!(wire.asks(&bind).await.header.status, CommandStatus::OK);
    wire.asks(&bind).await;
    wire.asks(&Pdu::EnquireLink).await;
    let id = submits(wire).await;
    wire.is_delivered(2).await;
    let source = Address::alphanumeric(SENDER.as_bytes());
    for message_id in [&id[..], b"4711"] {
        wire.asks(&Pdu::QuerySm(QuerySm { message_id, source })).await;
    }
    let cancel = CancelSm { message_id: &id, source, ..CancelSm::default() };
    wire.asks(&Pdu::CancelSm(cancel)).await;
    let replace =
        ReplaceSm { message_id: &id, source, short_message: Hidden(b"other"), ..ReplaceSm::default() };
    wire.asks(&Pdu::ReplaceSm(replace)).await;
    submits_to_many(wire).await;
    wire.is_delivered(RECEIPTS).await;
    wire.asks(&Pdu::Outbind(Outbind { system_id: b"smsc", password: Hidden(b"") })).await;
    wire.asks(&Pdu::Unbind).await;
    wire.ends().await;
}

/// One by each way there is, and one that is refused. The id is of the first.
async fn submits(wire: &mut Wire) -> Vec<u8> {
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
    let answer = wire.asks(&Pdu::SubmitSm(submit)).await;
    let id = match answer.decode() {
        Ok(Pdu::SubmitSmResp(answer)) => answer.message_id.to_vec(),
        other => panic!("{other:?}"),
    };
    let nobody = SubmitSm { destination: Address::international(NOBODY), ..submit };
    wire.asks(&Pdu::SubmitSm(nobody)).await;
    let mut payload = TlvBuffer::new();
    payload.push(Tag::MESSAGE_PAYLOAD, "long enough for two parts ".repeat(8).as_bytes());
    let data = DataSm {
        source: submit.source,
        destination: submit.destination,
        registered_delivery: 1,
        tlvs: payload.as_tlvs(),
        ..DataSm::default()
    };
    wire.asks(&Pdu::DataSm(data)).await;
    id
}

async fn submits_to_many(wire: &mut Wire) {
    let mut destinations = DestinationsBuffer::default();
    for digits in [DESTINATION.as_bytes(), b"4915112345679", NOBODY] {
        let destination = Destination::Sme(Address::international(digits));
        destinations.push(destination).expect("three fit");
    }
    let multi = SubmitMulti {
        source: Address::alphanumeric(SENDER.as_bytes()),
        destinations: destinations.as_destinations(),
        registered_delivery: 1,
        short_message: Hidden(b"to all"),
        ..SubmitMulti::default()
    };
    wire.asks(&Pdu::SubmitMulti(multi)).await;
}

/// What tshark says of one packet.
#[derive(Debug)]
struct Line {
    name: String,
    /// Malformed or otherwise remarkable.
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

async fn reads(client: SocketAddr, server: SocketAddr, said: &[(Side, Vec<u8>)]) -> Vec<Line> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("session.pcap");
    pcap::write(&file, client, server, said);
    let port = format!("tcp.port=={},smpp", server.port());
    let mut command = Command::new(program("tshark"));
    command.args(["-n", "-r"]).arg(file).args(["-d", &port, "-T", "fields", "-E", "separator=|"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    // Without the preferences of whoever runs the test.
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
