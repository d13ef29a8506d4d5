//! The carrier's receipts against a raw SMPP client: order, content, retries.

use hermod_simulator::carrier::{
    CarrierOptions, FirstId, IdFormat, IdStyle, Outcome, Receipts, Script, SimulatedCarrier, SubmitFilter,
};
use hermod_smpp::{BindType, CommandStatus};

use crate::esme::{Esme, OnReceipt, PATIENCE};
use crate::helpers::{carrier, check, ms};

#[test]
fn default_script_accepts_and_delivers_every_message() {
    let expect = &["a: 1", "b: 2", "receipt 1 DELIVRD 2", "receipt 2 DELIVRD 2"];
    check(Script::new().receipt_after(ms(1_000), Outcome::Delivered), &["a", "b"], expect);
}

#[test]
fn receipt_follows_its_response() {
    check(Script::new(), &["a"], &["a: 1", "receipt 1 DELIVRD 2"]);
    check(Script::new().delay(ms(30)), &["a"], &["a: 1", "receipt 1 DELIVRD 2"]);
}

#[test]
fn scripted_receipt_precedes_its_response() {
    let first = || Script::new().receipt_before_response(Outcome::Delivered);
    check(first(), &["a"], &["receipt 1 DELIVRD 2", "a: 1"]);
    check(first().delay(ms(30)), &["a"], &["receipt 1 DELIVRD 2", "a: 1"]);
    let twice = ["receipt 1 DELIVRD 2", "receipt 1 DELIVRD 2", "a: 1"];
    check(first().receipt_twice(), &["a"], Box::leak(Box::new(twice)));
}

#[test]
fn every_outcome_has_its_stat_and_message_state() {
    for (outcome, expect) in [
        (Outcome::Delivered, "receipt 1 DELIVRD 2"),
        (Outcome::Expired, "receipt 1 EXPIRED 3"),
        (Outcome::Undeliverable, "receipt 1 UNDELIV 5"),
        (Outcome::Accepted, "receipt 1 ACCEPTD 6"),
        (Outcome::Unknown, "receipt 1 UNKNOWN 7"),
        (Outcome::Rejected, "receipt 1 REJECTD 8"),
    ] {
        let expect = Box::leak(Box::new(["a: 1", expect]));
        check(Script::new().receipt_after(ms(0), outcome), &["a"], expect);
    }
}

#[test]
fn receipt_is_repeated_or_preceded_by_enroute_if_scripted() {
    let again = &["a: 1", "receipt 1 DELIVRD 2", "receipt 1 DELIVRD 2"];
    check(Script::new().receipt_twice(), &["a"], again);
    let script = Script::new().enroute_after(ms(0)).receipt_after(ms(30), Outcome::Undeliverable);
    check(script, &["a"], &["a: 1", "receipt 1 ENROUTE 1", "receipt 1 UNDELIV 5"]);
}

#[test]
fn outcome_depends_on_the_text_if_scripted() {
    let undelivered = Receipts::after(ms(1_000), Outcome::Undeliverable);
    let script = Script::new().receipts_when(SubmitFilter::text("lost"), undelivered);
    let expect = &["found: 1", "lost: 2", "receipt 1 DELIVRD 2", "receipt 2 UNDELIV 5"];
    check(script.receipt_after(ms(1_000), Outcome::Delivered), &["found", "lost"], expect);
}

#[tokio::test]
async fn ids_are_hex_in_the_response_and_decimal_in_the_receipt_if_scripted() {
    let ids = IdFormat { response: IdStyle::UpperHex, receipt: IdStyle::Decimal, prefix: "c-".to_owned() };
    let options =
        CarrierOptions { first_id: FirstId::At(0xabc), ..CarrierOptions::new(Script::new().ids(ids)) };
    let carrier = SimulatedCarrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: c-ABC", "receipt c-2748 DELIVRD 2"]);
}

#[tokio::test]
async fn receipt_with_an_unknown_id_has_no_assigned_id() {
    let carrier = carrier(Script::new().receipt_unknown_id()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    let receipt = esme.next().await;
    assert!(receipt.starts_with("receipt 9") && receipt.ends_with(" DELIVRD 2"), "{receipt}");
}

#[tokio::test]
async fn carrier_scripted_without_receipts_sends_none() {
    let carrier = carrier(Script::new().no_receipts()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    assert_eq!(esme.within(ms(50)).await, None);
    assert_eq!(carrier.receipts_pending(), 0);
}

#[tokio::test]
async fn receipts_wait_for_the_next_bind() {
    let carrier = carrier(Script::new().receipts_after_reconnect()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    esme.unbind().await;
    assert_eq!(esme.next().await, "closed: we unbound");
    let gone = carrier.record();
    gone.wait_until(|record| record.counts().links_closed == 1, PATIENCE).await.unwrap();
    assert_eq!(carrier.receipts_pending(), 1);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 1 DELIVRD 2");
    gone.wait_until(|record| record.counts().receipts_accepted == 1, PATIENCE).await.unwrap();
    assert_eq!(carrier.receipts_pending(), 0);
    assert_eq!(gone.counts().unbinds, 1);
}

#[tokio::test]
async fn unanswered_receipt_is_sent_again_after_the_next_bind() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.on_receipt = OnReceipt::Ignore;
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    drop(esme);
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 1 DELIVRD 2");
    let record = carrier.record();
    record.wait_until(|record| record.counts().receipts_accepted == 1, PATIENCE).await.unwrap();
    assert_eq!((record.counts().receipts_sent, record.counts().receipts_unanswered), (2, 1));
    let answers: Vec<_> = record.receipts().iter().map(|receipt| receipt.response).collect();
    assert_eq!(answers, [None, Some(CommandStatus::OK)]);
}

#[tokio::test]
async fn receipt_is_repeated_after_a_temporary_error_only() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.on_receipt = OnReceipt::Reject(CommandStatus::X_T_APPN);
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    esme.on_receipt = OnReceipt::Reject(CommandStatus::X_R_APPN);
    assert_eq!(esme.next().await, "receipt 1 DELIVRD 2");
    assert_eq!(esme.within(ms(50)).await, None);
    let counts = carrier.record().counts();
    assert_eq!((counts.receipts_sent, counts.receipts_rejected), (2, 2));
    assert_eq!(carrier.receipts_pending(), 0);
}

#[tokio::test]
async fn receipts_of_a_transmitter_go_to_a_receiver() {
    let carrier = carrier(Script::new()).await;
    let mut transmitter = Esme::bound_as(carrier.addr(), BindType::Transmitter).await;
    transmitter.submit("a").await;
    assert_eq!(transmitter.next().await, "a: 1");
    assert_eq!(carrier.receipts_pending(), 1);
    let mut receiver = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    assert_eq!(receiver.next().await, "receipt 1 DELIVRD 2");
    transmitter.submit("b").await;
    assert_eq!(receiver.next().await, "receipt 2 DELIVRD 2");
    assert_eq!(transmitter.next().await, "b: 2");
}

#[tokio::test]
async fn client_of_version_3_3_gets_receipts_without_tlvs() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::connect_3_3(carrier.addr()).await;
    assert_eq!(esme.next().await, "bound");
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD -"]);
    assert_eq!(carrier.record().binds()[0].interface_version, 0x33);
}

#[tokio::test]
async fn submit_over_the_limit_of_waiting_receipts_gets_queue_full() {
    let options = CarrierOptions {
        receipts_max: 2,
        first_id: FirstId::At(1),
        ..CarrierOptions::new(Script::new().receipt_after(PATIENCE * 6, Outcome::Delivered))
    };
    let carrier = SimulatedCarrier::start(options).await.unwrap();
    let mut esme = Esme::bound(carrier.addr()).await;
    for text in ["a", "b", "c"] {
        esme.submit(text).await;
    }
    assert_eq!(esme.next_many(3).await, ["a: 1", "b: 2", "c: 0x14"]);
}
