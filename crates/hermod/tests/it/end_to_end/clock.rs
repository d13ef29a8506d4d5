//! Jumps of the machine's clock do not affect queues, retries, ids or receipts.

use super::smpp::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_gateway::clock::Moment;
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus};
use std::time::Duration;

const TO: &str = "+4915112345678";
const RECONNECT: Duration = Duration::from_secs(61);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

#[track_caller]
fn assert_ids_rise(ids: &[String]) {
    let numbers: Vec<u64> = ids.iter().map(|id| id.parse().expect("a number")).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

/// Jumps the clock by `seconds` while messages wait for a disconnected carrier.
async fn check_queue_after_jump_by(seconds: i64) {
    let mut s = Scenario::without_carrier().await;
    let mut ids = vec![s.alice.send_with_key(TO, "first", "key").await.accepted()];
    for n in 0..5 {
        ids.push(s.alice.send(TO, &format!("waiting {n}")).await.accepted());
    }
    let (before, moment) = (s.now(), s.moment());
    s.jump_clock(seconds).await;
    // Long enough for all jobs that run once a minute.
    s.advance(2 * MINUTE).await;
    s.pause_briefly().await;
    let (passed, advanced) = (s.now().since(before), s.moment().since(moment));
    assert!(s.now() > before && passed < 2 * advanced, "{passed:?} while the test advanced {advanced:?}");
    for id in &ids {
        s.alice.status_of(id).is("queued").await;
    }
    let again = s.alice.send_with_key(TO, "first", "key").await;
    assert_eq!((again.status, again.body["message_id"].as_str()), (200, Some(ids[0].as_str())));
    ids.push(s.alice.send(TO, "after").await.accepted());
    assert_ids_rise(&ids);

    s.start_carrier_again(Script::new()).await;
    for id in &ids {
        s.advance_until(RECONNECT, || s.alice.status_of(id).becomes("delivered")).await;
    }
    s.assert_carrier_submits(7);
    s.alice.assert_balance("99.65").await;
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn queue_survives_a_clock_jump_of_an_hour() {
    check_queue_after_jump_by(HOUR).await;
}

#[tokio::test]
async fn queue_survives_a_clock_jump_of_a_week() {
    check_queue_after_jump_by(7 * DAY).await;
}

#[tokio::test]
async fn queue_survives_a_clock_jump_back_by_an_hour() {
    check_queue_after_jump_by(-HOUR).await;
}

#[tokio::test]
async fn queue_survives_a_clock_jump_back_by_a_day() {
    check_queue_after_jump_by(-DAY).await;
}

#[tokio::test]
async fn queue_survives_a_clock_jump_back_by_five_seconds() {
    check_queue_after_jump_by(-5).await;
}

#[tokio::test]
async fn deferred_message_is_retried_in_time_after_any_clock_jump() {
    for seconds in [-DAY, -HOUR, -5, HOUR, 7 * DAY] {
        let script = Script::new().reject_first(1, CommandStatus::SYSERR);
        let s = Scenario::with(script).await;
        let id = s.alice.send(TO, "again").await.accepted();
        s.wait_for_carrier_submits(1).await;
        s.jump_clock(seconds).await;
        // In such steps an hour would take longer than any test waits.
        s.advance_until(Duration::from_secs(1), || s.alice.status_of(&id).becomes("delivered")).await;
        s.end().await;
    }
}

#[tokio::test]
async fn receipt_answered_with_a_temporary_error_is_repeated_in_time_after_any_clock_jump() {
    for seconds in [-DAY, 7 * DAY] {
        let s = Scenario::with(Script::new()).await;
        provision_alice_smpp(&s, "").await;
        let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
        let id = alice.submit(message("again")).await;
        let first = alice.take_receipt_unanswered().await;
        alice.answer_receipt(&first, CommandStatus::X_T_APPN).await;
        alice.wait_until_read().await;
        s.pause_briefly().await;
        s.jump_clock(seconds).await;
        s.skip(Duration::from_secs(35));
        assert_eq!(alice.take_receipt().await.get("id"), id);
        drop(alice);
        s.end().await;
    }
}

#[tokio::test]
async fn alarm_of_a_clock_jump_ends_when_the_clock_is_corrected() {
    let s = Scenario::with(Script::new()).await;
    s.jump_clock(HOUR).await;
    assert_eq!(s.alarms(), [" clock-jumped "]);
    let id = s.alice.send(TO, "still here").await.accepted();
    s.alice.status_of(&id).becomes("delivered").await;
    s.correct_clock();
    s.skip(Duration::from_secs(2));
    s.wait_for_alarms(&[]).await;
    s.end().await;
}

#[tokio::test]
async fn restart_adopts_the_machine_clock_without_repeating_ids_or_messages() {
    for seconds in [-DAY, -HOUR, DAY] {
        let mut s = Scenario::with(Script::new()).await;
        let mut ids = vec![s.alice.send_with_key(TO, "first", "key").await.accepted()];
        s.alice.status_of(&ids[0]).becomes("delivered").await;
        let (before, moment) = (s.now(), s.moment());
        s.jump_clock(seconds).await;
        let advanced = s.moment().since(moment);
        s.restart_with_machine_clock().await;
        let expected = before.plus(advanced).plus(s.moment().since(Moment(0)));
        let went = s.now().as_millis() - expected.as_millis();
        assert!((went - seconds * 1_000).abs() < 60_000, "{went} ms");
        let again = s.alice.send_with_key(TO, "first", "key").await;
        assert_eq!((again.status, again.body["message_id"].as_str()), (200, Some(ids[0].as_str())));
        for n in 0..3 {
            ids.push(s.alice.send(TO, &format!("after {n}")).await.accepted());
        }
        assert_ids_rise(&ids);
        s.alice.status_of(&ids[3]).becomes("delivered").await;
        s.wait_until_no_open_parts().await;
        s.alice.assert_balance("99.8").await;
        s.end().await;
    }
}

#[tokio::test]
async fn message_is_sent_and_receipted_in_2037_2038_and_2069() {
    for date in ["2037-12-31T23:59:50Z", "2038-01-19T03:14:00Z", "2069-06-01T12:00:00Z"] {
        let s = Scenario::starting_at(date, Script::new()).await;
        provision_alice_smpp(&s, "").await;
        let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
        let id = alice.submit(message("the years go by")).await;
        let receipt = alice.take_receipt().await;
        assert_eq!((receipt.get("id"), receipt.get("stat")), (id.as_str(), "DELIVRD"));
        s.skip(Duration::from_secs(30));
        let next = s.alice.send_with_key(TO, "over the edge", "key").await.accepted();
        s.alice.status_of(&next).becomes("delivered").await;
        assert_eq!(s.alice.send_with_key(TO, "over the edge", "key").await.status, 200);
        assert_ids_rise(&[id, next]);
        drop(alice);
        s.end().await;
    }
}
