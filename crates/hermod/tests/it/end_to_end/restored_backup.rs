//! A backup that is restored after its messages were sent: nothing is sent a second time.

use crate::scenario::Scenario;
use crate::store_access::is_embedded;
use hermod_operator::author::{Acting, Author};
use hermod_operator::restore::{self, CancelRequest, CancelledView};
use hermod_simulator::carrier::Script;
use std::time::Duration;

const TO: &str = "+4915112345678";
const STEP: Duration = Duration::from_secs(61);

fn operator(s: &Scenario) -> Acting {
    Acting { gateway: s.gateway().clone(), author: Author::operator(None) }
}

/// Starts a gateway on a backup of three waiting messages that the carrier has got since.
async fn restored() -> Scenario {
    let mut s = Scenario::without_carrier().await;
    let mut sent = Vec::new();
    for number in 1..=3 {
        sent.push(s.alice.send(TO, &format!("before {number}")).await.accepted());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let backup = folder.path().join("hermod.db");
    s.back_up(&backup).await;
    s.start_carrier_again(Script::new()).await;
    for message in &sent {
        s.advance_until(STEP, || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.assert_carrier_submits(3);
    s.alice.assert_balance("99.85").await;

    s.restore(&backup).await;
    // Longer than links take to bind, and a route to fail over.
    s.advance(Duration::from_secs(600)).await;
    s.pause_briefly().await;
    s.assert_carrier_submits(3);
    let is_raised = || s.alarms().iter().any(|alarm| alarm.contains("gateway-held"));
    s.wait_until("the alarm is raised", is_raised).await;
    let refused = s.alice.send(TO, "while it is held").await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    s
}

#[tokio::test]
async fn messages_of_a_backup_that_are_cancelled_are_refunded_and_never_sent_again() {
    if !is_embedded() {
        return;
    }
    let s = restored().await;
    let shown = restore::show_restore(s.gateway()).await.expect("the gateway answers");
    assert!(shown.held && shown.backup_at.is_some(), "{shown:?}");
    let [waiting] = shown.waiting.as_slice() else { panic!("{shown:?}") };
    assert_eq!((waiting.carrier.as_str(), waiting.account.as_str(), waiting.messages), ("acme", "alice", 3));

    let cancelled = restore::cancel(&operator(&s), CancelRequest::default()).await.expect("it is held");
    let expected = CancelledView { looked_at: 3, cancelled: 3, ..CancelledView::default() };
    assert_eq!(cancelled, expected);
    s.alice.status_of(&waiting.oldest_id).is("rejected").await;
    s.alice.assert_balance("100").await;
    s.assert_carrier_submits(3);

    assert!(restore::release(&operator(&s)).await.expect("the gateway answers").released);
    let new = s.alice.send(TO, "after the release").await.accepted();
    s.advance_until(STEP, || s.alice.status_of(&new).becomes("delivered")).await;
    s.assert_carrier_received_once("after the release");
    s.assert_carrier_submits(4);
    s.alice.assert_balance("99.95").await;
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn held_gateway_stays_held_over_a_restart_and_sends_what_waits_once_it_is_released() {
    if !is_embedded() {
        return;
    }
    let mut s = restored().await;
    s.restart_held().await;
    s.advance(Duration::from_secs(600)).await;
    s.pause_briefly().await;
    s.assert_carrier_submits(3);
    let shown = restore::show_restore(s.gateway()).await.expect("the gateway answers");
    assert!(restore::release(&operator(&s)).await.expect("the gateway answers").released);
    let last = &shown.waiting[0].newest_id;
    s.advance_until(STEP, || s.alice.status_of(last).becomes("delivered")).await;
    s.assert_carrier_submits(6);
    s.wait_until_no_open_parts().await;
    s.end().await;
}
