//! Failover between the carriers of a route.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const TO: &str = "+4915112345678";
/// Settings of a carrier whose silence is found long before the timeout of its responses.
const PATIENT: &str = "window = 1\nresponse_timeout = \"10m\"";

#[tokio::test]
async fn message_goes_to_the_next_carrier_while_the_first_is_disconnected() {
    let s = Scenario::with(Script::new()).await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let first = s.alice.send(TO, "by the first").await.accepted();
    s.alice.status_of(&first).becomes("delivered").await;
    s.assert_carrier_received_once("by the first");

    s.set_carrier_script(Script::new().hang_up());
    s.carrier().cut_links();
    s.wait_for_carrier_health("down").await;
    let second = s.alice.send(TO, "by the second").await.accepted();
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&second).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["by the second"]);
    s.alice.assert_balance("99.9").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn messages_queued_for_a_disconnected_carrier_move_to_another_in_order() {
    let s = Scenario::with_settings(Script::new().delay(Duration::from_secs(3600)), "window = 1").await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let mut messages = Vec::new();
    for n in 0..20 {
        messages.push(s.alice.send(TO, &format!("waiting {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(1).await;
    s.set_carrier_script(Script::new().hang_up());
    s.carrier().cut_links();
    for message in &messages[1..] {
        s.advance_until(Duration::from_secs(2), || s.alice.status_of(message).becomes("delivered")).await;
    }
    let order: Vec<String> = (1..20).map(|n| format!("waiting {n}")).collect();
    let taken: Vec<String> =
        beta.record().received_texts().into_iter().filter(|text| text != "waiting 0").collect();
    assert_eq!(taken, order, "in the order of acceptance");
    // The first message is in doubt at the disconnected carrier and moves after its in-doubt wait.
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&messages[0]).becomes("delivered")).await;
    s.alice.assert_balance("99").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn carrier_that_answers_nothing_is_stalled_and_its_queue_moves() {
    let s = Scenario::with_settings(Script::new().delay(Duration::from_secs(3600)), PATIENT).await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let (started, mut messages) = (s.now(), Vec::new());
    for n in 0..10 {
        messages.push(s.alice.send(TO, &format!("waiting {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(1).await;
    for message in &messages[1..] {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert!(s.now().since(started) < Duration::from_secs(600), "before the timeout of the response");
    s.wait_for_carrier_health("stalled").await;
    assert_eq!(s.alarms(), ["acme carrier-stalled "]);
    let new = s.alice.send(TO, "after that").await.accepted();
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&new).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts().len(), 10, "nine that waited, and the new one");

    // The one that it has is resent to it, and it answers.
    s.set_carrier_script(Script::new());
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&messages[0]).becomes("delivered")).await;
    s.advance_until(Duration::from_secs(1), || s.wait_for_carrier_health("up")).await;
    s.advance_until(Duration::from_secs(1), || s.wait_for_alarms(&[])).await;
    assert_eq!(beta.record().received_texts().len(), 10, "no message went to both");
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn route_says_how_long_messages_wait_for_a_stalled_carrier() {
    let s = Scenario::with_settings(Script::new().delay(Duration::from_secs(3600)), PATIENT).await;
    let beta = s.add_backup_carrier(Script::new(), "", "fail_over_after = \"5m\"\n").await;
    let first = s.alice.send(TO, "it has this one").await.accepted();
    let waiting = s.alice.send(TO, "this one waits").await.accepted();
    s.wait_for_carrier_submits(1).await;
    for _ in 0..20 {
        s.skip(Duration::from_secs(1));
        s.pause_briefly().await;
    }
    s.wait_for_carrier_health("stalled").await;
    assert_eq!(beta.record().received_texts(), Vec::<String>::new());
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&waiting).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["this one waits"]);
    s.set_carrier_script(Script::new());
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&first).becomes("delivered")).await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn drained_carrier_gets_nothing_more_and_its_receipts_still_arrive() {
    let second = Duration::from_secs(1);
    let slow = Script::new().delay(3 * second);
    let s = Scenario::with_settings(slow, "window = 1").await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let sent = s.alice.send(TO, "it has this one").await.accepted();
    let waiting = s.alice.send(TO, "this one waits").await.accepted();
    s.wait_for_carrier_submits(1).await;
    let binds = s.carrier().record().counts().binds;
    let drain = async |draining: &str| {
        s.change(&format!("[[carrier]]\nname = \"acme\"\ndraining = \"{draining}\"\n")).await;
    };
    drain("move").await;
    s.wait_for_carrier_health("stopped").await;
    let new = s.alice.send(TO, "after that").await.accepted();
    for message in [&sent, &waiting, &new] {
        s.advance_until(second, || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.assert_carrier_received_once("it has this one");
    assert_eq!(s.carrier_texts().len(), 1);
    assert_eq!(s.carrier().record().counts().binds, binds, "its link stayed bound");
    assert_eq!(beta.record().received_texts().len(), 2);

    drain("stay").await;
    s.provision("[[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n").await;
    let stays = s.alice.send(TO, "this one stays").await.accepted();
    for _ in 0..20 {
        s.advance(second).await;
    }
    s.alice.status_of(&stays).is("queued").await;
    drain("").await;
    s.advance_until(second, || s.alice.status_of(&stays).becomes("delivered")).await;
    s.assert_carrier_received_once("this one stays");
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn messages_queued_for_a_throttling_carrier_move_to_a_healthy_one() {
    let hour = Duration::from_secs(3600);
    let s = Scenario::with_settings(Script::new().throttle_for(hour), "window = 1").await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let (started, mut messages) = (s.now(), Vec::new());
    for n in 0..20 {
        messages.push(s.alice.send(TO, &format!("waiting {n}")).await.accepted());
    }
    s.wait_for_carrier_submits(1).await;
    for message in &messages {
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
    }
    // The other carrier throttles for an hour.
    assert!(s.now().since(started) < hour / 4, "after {:?}", s.now().since(started));
    assert_eq!((beta.record().received_texts().len(), s.carrier_texts().len()), (20, 0));
    s.alice.assert_balance("99").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn message_whose_recipient_is_throttled_moves_to_the_other_carrier() {
    let limited = Script::new().reject_when(SubmitFilter::to(TO), CommandStatus::THROTTLED);
    let s = Scenario::with(limited).await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let throttled = s.alice.send(TO, "not over there").await.accepted();
    s.wait_for_carrier_submits(1).await;
    let other = s.alice.send("+4915112340000", "no matter").await.accepted();
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&other).becomes("delivered")).await;
    s.assert_carrier_received_once("no matter");
    s.advance_until(Duration::from_secs(1), || s.alice.status_of(&throttled).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["not over there"]);
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn message_after_two_temporary_errors_moves_to_the_other_carrier() {
    let s = Scenario::with(Script::new().reject_for(Duration::from_secs(3600), CommandStatus::SYSERR)).await;
    let beta = s.add_backup_carrier(Script::new(), "", "").await;
    let message = s.alice.send(TO, "later or elsewhere").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&message).becomes("delivered")).await;
    s.assert_carrier_submits(2);
    assert_eq!(beta.record().received_texts(), ["later or elsewhere"]);
    s.alice.assert_balance("99.95").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn rejected_message_moves_to_the_next_carrier_only_if_the_route_allows() {
    for (rule, expect) in [("", "undeliverable"), ("fail_over_refusals = true\n", "delivered")] {
        let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SUBMITFAIL)).await;
        let beta = s.add_backup_carrier(Script::new(), "", rule).await;
        let message = s.alice.send(TO, "rejected by the first").await.accepted();
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(&message).becomes(expect)).await;
        s.assert_carrier_submits(1);
        let taken = beta.record().received_texts();
        assert_eq!(taken.len(), usize::from(expect == "delivered"), "{taken:?}");
        s.alice.assert_balance("99.95").await;
        s.end().await;
        beta.stop().await;
    }
}

#[tokio::test]
async fn message_rejected_for_its_destination_does_not_move() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::INVDSTADR)).await;
    let beta = s.add_backup_carrier(Script::new(), "", "fail_over_refusals = true\n").await;
    let message = s.alice.send(TO, "no such number").await.accepted();
    s.alice.status_of(&message).becomes("undeliverable").await;
    assert_eq!(beta.record().counts().submits, 0);
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn long_message_moves_to_a_carrier_that_takes_it_in_one_payload() {
    let s = Scenario::with(Script::new().reject_for(Duration::from_secs(3600), CommandStatus::SYSERR)).await;
    let beta = s.add_backup_carrier(Script::new(), "long_messages = \"payload\"", "").await;
    let text = "one of many parts, until it goes the other way; ".repeat(8);
    let message = s.alice.send(TO, &text).await.accepted();
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&message).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), [text]);
    assert_eq!(beta.record().counts().submits, 1);
    s.alice.assert_balance("99.85").await;
    s.end().await;
    beta.stop().await;
}
