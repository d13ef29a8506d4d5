//! Receipts before their responses, over other links, or after a reconnect.

use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::BindType;
use tokio::time::Instant;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, ms};

#[tokio::test]
async fn receipt_precedes_its_response_by_the_scripted_time() {
    let carrier = carrier(Script::new().receipt_ahead_of_response(ms(200), Outcome::Delivered)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    let start = Instant::now();
    esme.submit("a").await;
    assert_eq!(esme.next().await, "receipt 1 DELIVRD 2");
    assert_eq!(esme.next().await, "a: 1");
    assert!(start.elapsed() >= ms(200), "{:?}", start.elapsed());
}

#[tokio::test]
async fn receipts_on_another_link_wait_for_one() {
    let carrier = carrier(Script::new().receipts_on_other_link()).await;
    let mut one = Esme::bound(carrier.addr()).await;
    one.submit("a").await;
    assert_eq!(one.next().await, "a: 1");
    assert_eq!(one.within(ms(50)).await, None);
    assert_eq!(carrier.receipts_pending(), 1);
    let mut other = Esme::bound(carrier.addr()).await;
    assert_eq!(other.next().await, "receipt 1 DELIVRD 2");
    other.submit("b").await;
    assert_eq!(other.next().await, "b: 2");
    assert_eq!(one.next().await, "receipt 2 DELIVRD 2");
    carrier.record().wait_until(|record| record.counts().receipts_accepted == 2, PATIENCE).await.unwrap();
    let links: Vec<u64> = carrier.record().receipts().iter().map(|receipt| receipt.link).collect();
    assert_eq!((links, carrier.receipts_pending()), (vec![2, 1], 0));
}

#[tokio::test]
async fn receipt_on_another_link_can_precede_its_response() {
    let carrier = carrier(
        Script::new().receipt_ahead_of_response(ms(200), Outcome::Delivered).receipts_on_other_link(),
    )
    .await;
    let mut transmitter = Esme::bound_as(carrier.addr(), BindType::Transmitter).await;
    let mut receiver = Esme::bound_as(carrier.addr(), BindType::Receiver).await;
    let start = Instant::now();
    transmitter.submit("a").await;
    assert_eq!(receiver.next().await, "receipt 1 DELIVRD 2");
    assert_eq!(transmitter.next().await, "a: 1");
    assert!(start.elapsed() >= ms(200), "{:?}", start.elapsed());
}

#[tokio::test]
async fn receipts_wait_for_the_end_of_their_messages_link() {
    let carrier = carrier(Script::new().receipts_after_reconnect()).await;
    let mut one = Esme::bound(carrier.addr()).await;
    let mut other = Esme::bound(carrier.addr()).await;
    one.submit("a").await;
    assert_eq!(one.next().await, "a: 1");
    assert_eq!((one.within(ms(50)).await, other.within(ms(50)).await), (None, None));
    drop(one);
    assert_eq!(other.next().await, "receipt 1 DELIVRD 2");
    other.submit("b").await;
    assert_eq!(other.next().await, "b: 2");
    other.unbind().await;
    assert_eq!(other.next().await, "closed: we unbound");
    let mut again = Esme::bound(carrier.addr()).await;
    assert_eq!(again.next().await, "receipt 2 DELIVRD 2");
}
