//! More than one way to a handset: who is taken, and who stands in.

use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const TO: &str = "+4915112345678";

#[tokio::test]
async fn a_carrier_that_is_away_is_stood_in_for() {
    let s = Scenario::with(Script::new()).await;
    let beta = s.joined_by(Script::new(), "", "").await;
    let first = s.alice.sends(TO, "by the first").await.accepted();
    s.alice.sees(&first).becomes("delivered").await;
    s.carrier_received_once("by the first");

    s.carrier_does(Script::new().hang_up());
    s.carrier().cut_links();
    s.carrier_is("down").await;
    let second = s.alice.sends(TO, "by the second").await.accepted();
    s.stepping(Duration::from_secs(1), || s.alice.sees(&second).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["by the second"]);
    s.alice.has("99.9").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn what_waits_for_a_carrier_that_went_away_is_taken_to_another() {
    let s = Scenario::with_settings(Script::new().delay(Duration::from_secs(3600)), "window = 1").await;
    let beta = s.joined_by(Script::new(), "", "").await;
    let mut messages = Vec::new();
    for n in 0..20 {
        messages.push(s.alice.sends(TO, &format!("waiting {n}")).await.accepted());
    }
    s.carrier_has_seen_submits(1).await;
    s.carrier_does(Script::new().hang_up());
    s.carrier().cut_links();
    for message in &messages[1..] {
        s.stepping(Duration::from_secs(2), || s.alice.sees(message).becomes("delivered")).await;
    }
    let order: Vec<String> = (1..20).map(|n| format!("waiting {n}")).collect();
    let taken: Vec<String> =
        beta.record().received_texts().into_iter().filter(|text| text != "waiting 0").collect();
    assert_eq!(taken, order, "in the order in which they were accepted");
    // The first may be with the carrier that is away; after its doubt it takes the other way too.
    s.stepping(Duration::from_secs(5), || s.alice.sees(&messages[0]).becomes("delivered")).await;
    s.alice.has("99").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn what_waits_for_a_carrier_that_throttles_is_taken_to_a_healthy_one() {
    let hour = Duration::from_secs(3600);
    let s = Scenario::with_settings(Script::new().throttle_for(hour), "window = 1").await;
    let beta = s.joined_by(Script::new(), "", "").await;
    let (started, mut messages) = (s.now(), Vec::new());
    for n in 0..20 {
        messages.push(s.alice.sends(TO, &format!("waiting {n}")).await.accepted());
    }
    s.carrier_has_seen_submits(1).await;
    for message in &messages {
        s.stepping(Duration::from_secs(1), || s.alice.sees(message).becomes("delivered")).await;
    }
    assert!(s.now().since(started) < Duration::from_secs(60), "after {:?}", s.now().since(started));
    assert_eq!((beta.record().received_texts().len(), s.carrier_texts().len()), (20, 0));
    s.alice.has("99").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn message_whose_recipient_one_carrier_throttles_goes_to_the_other() {
    let limited = Script::new().reject_when(SubmitFilter::to(TO), CommandStatus::THROTTLED);
    let s = Scenario::with(limited).await;
    let beta = s.joined_by(Script::new(), "", "").await;
    let throttled = s.alice.sends(TO, "not over there").await.accepted();
    s.carrier_has_seen_submits(1).await;
    let other = s.alice.sends("+4915112340000", "no matter").await.accepted();
    s.stepping(Duration::from_secs(1), || s.alice.sees(&other).becomes("delivered")).await;
    s.carrier_received_once("no matter");
    s.stepping(Duration::from_secs(1), || s.alice.sees(&throttled).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["not over there"]);
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn two_temporary_errors_send_a_message_the_other_way() {
    let s = Scenario::with(Script::new().reject_for(Duration::from_secs(3600), CommandStatus::SYSERR)).await;
    let beta = s.joined_by(Script::new(), "", "").await;
    let message = s.alice.sends(TO, "later or elsewhere").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.stepping(Duration::from_secs(5), || s.alice.sees(&message).becomes("delivered")).await;
    s.carrier_saw_submits(2);
    assert_eq!(beta.record().received_texts(), ["later or elsewhere"]);
    s.alice.has("99.95").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn a_refusal_goes_on_to_the_next_only_where_the_route_says_so() {
    for (rule, expect) in [("", "undeliverable"), ("fail_over_refusals = true\n", "delivered")] {
        let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SUBMITFAIL)).await;
        let beta = s.joined_by(Script::new(), "", rule).await;
        let message = s.alice.sends(TO, "somebody takes it").await.accepted();
        s.stepping(Duration::from_secs(1), || s.alice.sees(&message).becomes(expect)).await;
        s.carrier_saw_submits(1);
        let taken = beta.record().received_texts();
        assert_eq!(taken.len(), usize::from(expect == "delivered"), "{taken:?}");
        s.alice.has("99.95").await;
        s.end().await;
        beta.stop().await;
    }
}

#[tokio::test]
async fn a_refusal_for_the_message_itself_goes_nowhere_else() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::INVDSTADR)).await;
    let beta = s.joined_by(Script::new(), "", "fail_over_refusals = true\n").await;
    let message = s.alice.sends(TO, "no such number").await.accepted();
    s.alice.sees(&message).becomes("undeliverable").await;
    assert_eq!(beta.record().counts().submits, 0);
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn a_long_message_changes_to_a_carrier_that_takes_it_whole() {
    let s = Scenario::with(Script::new().reject_for(Duration::from_secs(3600), CommandStatus::SYSERR)).await;
    let beta = s.joined_by(Script::new(), "long_messages = \"payload\"", "").await;
    let text = "one of many parts, until it goes the other way; ".repeat(8);
    let message = s.alice.sends(TO, &text).await.accepted();
    s.stepping(Duration::from_secs(5), || s.alice.sees(&message).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), [text]);
    assert_eq!(beta.record().counts().submits, 1);
    s.alice.has("99.85").await;
    s.end().await;
    beta.stop().await;
}
