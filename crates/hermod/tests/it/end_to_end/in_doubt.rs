//! Parts in doubt: resent up to three times with growing waits, then an alarm.

use crate::real_time::{PATIENCE, now};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{RecordedResponse, Script};
use std::collections::HashSet;
use std::time::Duration;

const TO: &str = "+4915112345678";
const HOUR: Duration = Duration::from_secs(3_600);
/// Smaller than the waits of a link and of a part in doubt, so that they occur in their real order.
const STEP: Duration = Duration::from_secs(3);

/// Returns the texts that the carrier accepted.
fn answered(s: &Scenario) -> HashSet<String> {
    let submits = s.carrier().record().submits().into_iter();
    submits
        .filter(|submit| matches!(submit.response, RecordedResponse::Accepted { .. }))
        .map(|submit| submit.text)
        .collect()
}

#[tokio::test]
async fn carrier_that_crashes_in_eight_sessions_gets_every_message() {
    const MESSAGES: usize = 1_000;
    let script = Script::new().crash_loop(8, 5);
    let s = Scenario::with_settings(script, "window = 50\nresponse_timeout = \"30s\"").await;
    for n in 0..MESSAGES {
        s.alice.send(TO, &format!("crash loop {n}")).await.accepted();
    }
    let started = now();
    while answered(&s).len() < MESSAGES {
        let reached = answered(&s).len();
        assert!(started.elapsed() < PATIENCE, "{reached} of {MESSAGES} have reached the carrier");
        s.skip(STEP);
        s.pause_briefly().await;
    }
    s.wait_until_no_open_parts().await;
    let resends = s.resends().await;
    assert!(resends > 0, "the crashes put parts in doubt");
    assert!(s.carrier().record().duplicates() <= resends, "every copy is a recorded resend");
    assert!(!s.alarms().iter().any(|alarm| alarm.contains("unconfirmed")), "{:?}", s.alarms());
    s.alice.assert_balance("50").await;
    s.end().await;
}

#[tokio::test]
async fn part_without_an_answer_to_its_third_resend_is_unknown_and_raises_an_alarm() {
    let s = Scenario::with(Script::new().ignore_first(4)).await;
    let message = s.alice.send(TO, "hello????").await.accepted();
    for submits in 1..=4 {
        s.advance_until(Duration::from_secs(10), || s.wait_for_carrier_submits(submits)).await;
        s.alice.status_of(&message).is("queued").await;
    }
    s.advance_until(Duration::from_secs(10), || s.alice.status_of(&message).becomes("submitted")).await;
    s.advance_until(Duration::from_secs(1), || s.wait_for_alarms(&["acme unconfirmed-parts "])).await;
    assert_eq!(s.resends().await, 3);
    // Another message is sent; the first one is not sent a fifth time.
    let other = s.alice.send(TO, "still there?").await.accepted();
    s.advance_until(Duration::from_secs(10), || s.alice.status_of(&other).becomes("delivered")).await;
    s.assert_carrier_submits(5);
    s.advance(97 * HOUR).await;
    s.pause_briefly().await;
    s.alice.status_of(&message).is("submitted").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "UNKNOWN");
    s.alice.assert_balance("99.9").await;
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn resend_once_leaves_the_part_unconfirmed_after_its_second_doubt() {
    let s = Scenario::with_settings(Script::new().ignore_first(2), "in_doubt = \"resend-once\"").await;
    let message = s.alice.send(TO, "hello??").await.accepted();
    s.advance_until(Duration::from_secs(10), || s.wait_for_carrier_submits(2)).await;
    s.advance_until(Duration::from_secs(10), || s.alice.status_of(&message).becomes("submitted")).await;
    s.advance_until(Duration::from_secs(1), || s.wait_for_alarms(&["acme unconfirmed-parts "])).await;
    assert_eq!(s.resends().await, 1);
    s.alice.assert_balance("99.95").await;
    s.end_with_open_parts(1).await;
}
