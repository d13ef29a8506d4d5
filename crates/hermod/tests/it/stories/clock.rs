//! What happens when somebody sets the clock of the machine: nothing that a customer would notice.

use super::smpp::{alice_binds_with, message};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus};
use std::time::Duration;

const TO: &str = "+4915112345678";
const RECONNECT: Duration = Duration::from_secs(61);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

#[track_caller]
fn are_each_later_than_the_one_before(ids: &[String]) {
    let numbers: Vec<u64> = ids.iter().map(|id| id.parse().expect("a number")).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

/// Messages wait for a carrier that is away when the clock jumps by so many seconds.
async fn a_queue_outlives_a_jump_by(seconds: i64) {
    let mut s = Scenario::without_carrier().await;
    let mut ids = vec![s.alice.sends_with_key(TO, "first", "key").await.accepted()];
    for n in 0..5 {
        ids.push(s.alice.sends(TO, &format!("waiting {n}")).await.accepted());
    }
    let before = s.now();
    s.the_clock_jumps(seconds).await;
    // Long enough for everything that is looked through once a minute.
    s.advance(2 * MINUTE).await;
    s.a_moment_passes().await;
    let passed = s.now().since(before);
    assert!(s.now() > before && passed < 6 * MINUTE, "{passed:?}");
    for id in &ids {
        s.alice.sees(id).is("queued").await;
    }
    let again = s.alice.sends_with_key(TO, "first", "key").await;
    assert_eq!((again.status, again.body["message_id"].as_str()), (200, Some(ids[0].as_str())));
    ids.push(s.alice.sends(TO, "after").await.accepted());
    are_each_later_than_the_one_before(&ids);

    s.carrier_comes_back(Script::new()).await;
    for id in &ids {
        s.stepping(RECONNECT, || s.alice.sees(id).becomes("delivered")).await;
    }
    s.carrier_saw_submits(7);
    s.alice.has("99.65").await;
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn a_queue_outlives_a_jump_of_an_hour() {
    a_queue_outlives_a_jump_by(HOUR).await;
}

#[tokio::test]
async fn a_queue_outlives_a_jump_of_a_week() {
    a_queue_outlives_a_jump_by(7 * DAY).await;
}

#[tokio::test]
async fn a_queue_outlives_a_jump_back_by_an_hour() {
    a_queue_outlives_a_jump_by(-HOUR).await;
}

#[tokio::test]
async fn a_queue_outlives_a_jump_back_by_a_day() {
    a_queue_outlives_a_jump_by(-DAY).await;
}

#[tokio::test]
async fn a_queue_outlives_a_jump_back_by_five_seconds() {
    a_queue_outlives_a_jump_by(-5).await;
}

#[tokio::test]
async fn what_waits_for_its_time_is_tried_again_in_time_wherever_the_clock_went() {
    for seconds in [-DAY, -HOUR, -5, HOUR, 7 * DAY] {
        let script = Script::new().reject_first(1, CommandStatus::SYSERR);
        let s = Scenario::with(script).await;
        let id = s.alice.sends(TO, "again").await.accepted();
        s.carrier_has_seen_submits(1).await;
        s.the_clock_jumps(seconds).await;
        let before = s.now();
        s.stepping(Duration::from_secs(5), || s.alice.sees(&id).becomes("delivered")).await;
        let passed = s.now().since(before);
        assert!(passed < 10 * MINUTE, "{passed:?} after a jump of {seconds} s");
        s.end().await;
    }
}

#[tokio::test]
async fn a_receipt_that_could_not_be_taken_comes_again_in_time_wherever_the_clock_went() {
    for seconds in [-DAY, 7 * DAY] {
        let s = Scenario::with(Script::new()).await;
        alice_binds_with(&s, "").await;
        let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
        let id = alice.submits(message("again")).await;
        let first = alice.gets_receipt_unanswered().await;
        alice.answers(&first, CommandStatus::X_T_APPN).await;
        s.a_moment_passes().await;
        s.the_clock_jumps(seconds).await;
        s.skip(Duration::from_secs(35));
        assert_eq!(alice.gets_receipt().await.get("id"), id);
        drop(alice);
        s.end().await;
    }
}

#[tokio::test]
async fn a_jump_that_is_set_right_ends_its_alarm() {
    let s = Scenario::with(Script::new()).await;
    s.the_clock_jumps(HOUR).await;
    assert_eq!(s.alarms(), [" clock-jumped "]);
    let id = s.alice.sends(TO, "still here").await.accepted();
    s.alice.sees(&id).becomes("delivered").await;
    s.the_clock_is_set_right();
    s.skip(Duration::from_secs(2));
    s.alarms_are(&[]).await;
    s.end().await;
}

#[tokio::test]
async fn a_restart_takes_the_clock_over_and_still_repeats_no_id_and_no_message() {
    for seconds in [-DAY, -HOUR, DAY] {
        let mut s = Scenario::with(Script::new()).await;
        let mut ids = vec![s.alice.sends_with_key(TO, "first", "key").await.accepted()];
        s.alice.sees(&ids[0]).becomes("delivered").await;
        let before = s.now();
        s.the_clock_jumps(seconds).await;
        s.restart_by_the_machines_clock().await;
        let went = s.now().as_millis() - before.as_millis();
        assert!((went - seconds * 1_000).abs() < 600_000, "{went} ms");
        let again = s.alice.sends_with_key(TO, "first", "key").await;
        assert_eq!((again.status, again.body["message_id"].as_str()), (200, Some(ids[0].as_str())));
        for n in 0..3 {
            ids.push(s.alice.sends(TO, &format!("after {n}")).await.accepted());
        }
        are_each_later_than_the_one_before(&ids);
        s.alice.sees(&ids[3]).becomes("delivered").await;
        s.everything_settles().await;
        s.alice.has("99.8").await;
        s.end().await;
    }
}

#[tokio::test]
async fn a_message_is_sent_and_reported_in_any_year() {
    for date in ["2037-12-31T23:59:50Z", "2038-01-19T03:14:00Z", "2069-06-01T12:00:00Z"] {
        let s = Scenario::starting_at(date, Script::new()).await;
        alice_binds_with(&s, "").await;
        let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
        let id = alice.submits(message("the years go by")).await;
        let receipt = alice.gets_receipt().await;
        assert_eq!((receipt.get("id"), receipt.get("stat")), (id.as_str(), "DELIVRD"));
        s.skip(Duration::from_secs(30));
        let next = s.alice.sends_with_key(TO, "over the edge", "key").await.accepted();
        s.alice.sees(&next).becomes("delivered").await;
        assert_eq!(s.alice.sends_with_key(TO, "over the edge", "key").await.status, 200);
        are_each_later_than_the_one_before(&[id, next]);
        drop(alice);
        s.end().await;
    }
}
