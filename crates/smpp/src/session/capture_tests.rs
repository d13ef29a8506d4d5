//! Unit tests of `capture.rs`.

use super::*;
use crate::session::tests::*;
use crate::*;

fn captured(session: &mut Session<u32>) -> Vec<String> {
    let describe = |frame| trace::describe(&frame, ReceiptDialect::Standard).to_string();
    std::iter::from_fn(|| session.next_captured()).map(describe).collect()
}

#[test]
fn every_received_pdu_is_captured_while_capturing_is_on() {
    let mut client = bound_client();
    let enquiry = |sequence| raw(CommandId::ENQUIRE_LINK, 0, sequence, b"");
    client.receive(&enquiry(1), START);
    assert_eq!(events_of(&mut client, START), [""; 0]);
    assert_eq!(captured(&mut client), [""; 0]);

    client.capture(true);
    client.capture(true);
    let both = [enquiry(2), octets(&deliver(), 3), raw(CommandId(0x999), 0, 4, b"?")].concat();
    client.receive(&both, START);
    assert_eq!(events_of(&mut client, START), ["request deliver_sm ok 3"]);
    let expect = [
        "enquire_link seq=2",
        "deliver_sm seq=3 source=1/1 491701234567 dest=5/0 Hermod esm_class=0x00 data_coding=0x00 text=(2 octets)",
        "0x00000999 seq=4 body=(1 octets)",
    ];
    assert_eq!(captured(&mut client), expect);

    client.receive(&enquiry(5), START);
    assert_eq!(events_of(&mut client, START), [""; 0]);
    client.capture(false);
    client.capture(true);
    assert_eq!(captured(&mut client), [""; 0], "unfetched PDUs are dropped");
}

#[test]
fn captured_pdus_are_limited() {
    let mut client = bound_client();
    client.capture(true);
    for sequence in 1..=2_000 {
        client.receive(&raw(CommandId::ENQUIRE_LINK, 0, sequence, b""), START);
        assert_eq!(client.next_event(START), None);
        client.output().clear();
    }
    assert_eq!(captured(&mut client).len(), CAPTURED_MAX);
}
