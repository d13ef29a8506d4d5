//! MO messages: whole, in parts, in any order and over any link.

use std::time::Duration;

use hermod_simulator::carrier::{MoPart, MoText, Script, SubmitFilter};
use hermod_smpp::{BindType, CommandStatus};

use crate::esme::{Esme, OnReceipt, PATIENCE};
use crate::helpers::carrier;

#[tokio::test]
async fn mo_message_is_sent_as_deliver_sm() {
    let carrier = carrier(Script::new()).await;
    carrier.send_mo_parts(MoText::new("4917", "12345", "hello").parts());
    let mut esme = Esme::bound(carrier.addr()).await;
    assert_eq!(esme.next().await, "said 4917 > 12345: hello");
    let payload = MoPart {
        in_payload: true,
        tlvs: vec![(0x1fff, vec![1])],
        ..MoPart::raw("4917", "12345", 0, b"long")
    };
    carrier.send_mo_parts([payload]);
    assert_eq!(esme.next().await, "said 4917 > 12345: long");
    carrier.record().wait_until(|record| record.counts().mo_accepted == 2, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn mo_parts_are_sent_in_scripted_order_and_links_with_other_udh_elements() {
    let carrier = carrier(Script::new()).await;
    let mut one = Esme::bound(carrier.addr()).await;
    let mut other = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    let mut parts = MoText::new("4917", "12345", &"x".repeat(200))
        .reference(0x1234)
        .wide()
        .with_element(0x24, &[1])
        .parts();
    parts.reverse();
    carrier.send_mo_parts([parts[0].clone().over(2), parts[1].clone().over(1)]);
    assert!(other.next().await.ends_with(&"x".repeat(200 - 148)));
    assert!(one.next().await.ends_with(&"x".repeat(148)));
    let record = carrier.record();
    record.wait_until(|record| record.counts().mo_accepted == 2, PATIENCE).await.unwrap();
    let headers: Vec<_> = record.mo().iter().map(|mo| (mo.link, mo.part.octets[..10].to_vec())).collect();
    let header = |sequence: u8| vec![9, 0x24, 1, 1, 8, 4, 0x12, 0x34, 2, sequence];
    assert!(headers.contains(&(2, header(2))) && headers.contains(&(1, header(1))), "{headers:?}");
}

#[tokio::test]
async fn mo_message_without_acceptance_is_sent_again() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.on_receipt = OnReceipt::Reject(CommandStatus::X_T_APPN);
    carrier.send_mo_parts(MoText::new("4917", "12345", "hello").parts());
    assert_eq!(esme.next().await, "said 4917 > 12345: hello");
    esme.on_receipt = OnReceipt::Ignore;
    assert_eq!(esme.next().await, "said 4917 > 12345: hello");
    drop(esme);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "said 4917 > 12345: hello");
    carrier.record().wait_until(|record| record.counts().mo_accepted == 1, PATIENCE).await.unwrap();
    assert_eq!(carrier.record().counts().mo_sent, 3);
}

#[tokio::test]
async fn scripted_reply_goes_to_the_sender_over_a_receiving_link() {
    let script = Script::new()
        .no_receipts()
        .reply_when(SubmitFilter::to_ending("99"), Duration::ZERO, "Yes")
        .reply_number_for_names("+4917");
    let carrier = carrier(script).await;
    let mut receiver = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    let mut transmitter = Esme::bound_as(carrier.addr(), BindType::Transmitter).await;
    for number in ["4915112345699", "4915112345698", "4915112345699"] {
        transmitter.submit_to(number, "hello").await;
        transmitter.next().await;
    }
    for _ in 0..2 {
        assert_eq!(receiver.next().await, "said 4915112345699 > 4917: Yes");
    }
    let record = carrier.record();
    record.wait_until(|record| record.counts().mo_accepted == 2, PATIENCE).await.unwrap();
    let references: Vec<_> = record.mo().iter().map(|mo| mo.part.tlvs.clone()).collect();
    assert_ne!(references[0], references[1], "each message has its own reference");
}
