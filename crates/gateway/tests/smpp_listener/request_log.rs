//! What the request log keeps of the recipients of rejected submits.

use crate::fixture::{RawClient, TestGateway, bind};
use hermod_domain::phone::Msisdn;
use hermod_gateway::app::recipient_digest;
use hermod_smpp::{
    Address, CommandStatus, DestinationEntry, DestinationsBuffer, Hidden, Pdu, SubmitMulti, SubmitSm, encode,
};
use hermod_store::record::{RequestFilter, Scope};

const TO: &[u8] = b"4915112345678";
const OTHER: &[u8] = b"4915112345679";

fn octets(pdu: &Pdu<'_>) -> Vec<u8> {
    let mut octets = bytes::BytesMut::new();
    encode(pdu, CommandStatus::OK, 8, &mut octets).unwrap();
    octets.to_vec()
}

/// Returns the codes of the lines to a number, the oldest first.
async fn codes(gateway: &TestGateway, to: &[u8]) -> Vec<String> {
    let gateway = gateway.gateway();
    gateway.store.record().flush().await.unwrap();
    let to = Msisdn::parse_digits(std::str::from_utf8(to).unwrap()).unwrap();
    let recipient = Some(recipient_digest(&gateway.pepper, to));
    let filter = RequestFilter { recipient, ..RequestFilter::default() };
    let page = gateway.store.record().request_log(Scope::All, filter, None, 100).await.unwrap();
    page.rows.into_iter().rev().map(|(_, line)| line.code.unwrap_or_default().into()).collect()
}

#[tokio::test]
async fn rejected_submits_are_found_by_their_recipient() {
    let gateway = TestGateway::open(|_| {}).await;
    let mut customer = RawClient::at(gateway.plain).await;
    customer.write(&bind("shop", "secret08")).await;
    assert_eq!(customer.read_header().await.unwrap().status, CommandStatus::OK);
    let valid = SubmitSm {
        source: Address::alphanumeric(b"Shop"),
        destination: Address::international(TO),
        short_message: Hidden(b"hello"),
        ..SubmitSm::default()
    };
    let mut recipients = DestinationsBuffer::default();
    for number in [TO, OTHER] {
        recipients.push(DestinationEntry::Sme(Address::international(number))).unwrap();
    }
    let multi = SubmitMulti {
        source: valid.source,
        destinations: recipients.as_destinations(),
        short_message: valid.short_message,
        ..SubmitMulti::default()
    };
    for (pdu, to, other) in [
        (Pdu::SubmitSm(valid), 1, 0),
        (Pdu::SubmitSm(SubmitSm { data_coding: 9, ..valid }), 2, 0),
        (Pdu::SubmitSm(SubmitSm { destination: Address::international(b"12"), ..valid }), 2, 0),
        (Pdu::SubmitMulti(multi), 3, 1),
        // A line has one recipient: rejected as a whole, those of several have none.
        (Pdu::SubmitMulti(SubmitMulti { data_coding: 9, ..multi }), 3, 1),
    ] {
        customer.write(&octets(&pdu)).await;
        assert_ne!(customer.read_header().await.unwrap().status, CommandStatus::OK);
        let found = [codes(&gateway, TO).await, codes(&gateway, OTHER).await];
        assert_eq!(found.each_ref().map(Vec::len), [to, other], "{pdu:?}: {found:?}");
        assert!(found.iter().flatten().all(|code| !code.is_empty()), "{found:?}");
    }
    gateway.close().await;
}
