//! Failures 6 to 10, 15 and 20: rates, late, lost or malformed responses, rejections, and retry loops.

use super::{RECONNECT, TO, send_and_wait_for_delivery};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
const TEN_MINUTES: Duration = Duration::from_secs(600);
const LONG: &str = "A long message of three parts has to count as three against a carrier's rate, since what a \
    carrier counts are submit_sm, one for each part. Whoever counts messages instead sends three times too fast, is \
    throttled for it, and loses the order of everything that waits behind. So this text goes on and on, until it \
    takes three parts: that is more than three hundred and six characters of the alphabet of GSM.";

#[tokio::test]
async fn failure_6_throttled_link_pauses_and_keeps_the_order() {
    for script in [Script::new().throttle_bursts(2, 5), Script::new().queue_full(3)] {
        let s = Scenario::with_settings(script, "window = 1").await;
        let mut messages = Vec::new();
        for n in 0..10 {
            messages.push(s.alice.send(TO, &format!("in order {n}")).await.accepted());
        }
        for message in &messages {
            s.advance_until(Duration::from_secs(1), || s.alice.status_of(message).becomes("delivered")).await;
        }
        let taken: Vec<String> = (0..10).map(|n| format!("in order {n}")).collect();
        assert_eq!(s.carrier_texts(), taken);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_7_rate_limit_counts_parts() {
    let s = Scenario::with_settings(Script::new().rate_max(30), "rate = 10\nlinks = 2").await;
    s.wait_for_links(2).await;
    let mut messages = Vec::new();
    for _ in 0..5 {
        messages.push(s.alice.send(TO, LONG).await.accepted());
    }
    for message in &messages {
        s.advance_until(Duration::from_millis(100), || s.alice.status_of(message).becomes("delivered")).await;
    }
    let record = s.carrier().record();
    assert_eq!((record.counts().submits, record.counts().rate_violations), (15, 0));
    assert!(
        record.received().iter().all(|joined| joined.is_on_one_link_in_order()),
        "all parts of a message use one link"
    );
    s.end().await;
}

#[tokio::test]
async fn failure_8_retried_submit_still_requests_a_receipt() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SYSERR)).await;
    let message = s.alice.send(TO, "again").await.accepted();
    s.advance_until(Duration::from_secs(5), || s.alice.status_of(&message).becomes("delivered")).await;
    let submits = s.carrier().record().submits();
    assert_eq!(submits.iter().map(|submit| submit.registered_delivery).collect::<Vec<_>>(), [1, 1]);
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_9_lost_response_makes_at_most_one_copy() {
    let s = Scenario::with(Script::new().lose_responses(1)).await;
    let message = s.alice.send(TO, "did you get it?").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance_until(RESPONSE_TIMEOUT, || s.alice.status_of(&message).becomes("delivered")).await;
    assert_eq!((s.carrier().record().duplicates(), s.resends().await), (1, 1));
    s.alice.assert_balance("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_9_carrier_without_resend_gets_no_copy() {
    let s = Scenario::with_settings(Script::new().lose_responses(1), "in_doubt = \"never-resend\"").await;
    let message = s.alice.send(TO, "once is enough").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.advance_until(RESPONSE_TIMEOUT, || s.alice.status_of(&message).becomes("submitted")).await;
    assert_eq!((s.carrier().record().duplicates(), s.resends().await), (0, 0));
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn failure_9_success_without_a_usable_id_is_sent_once_and_its_receipt_matched_by_number() {
    let scripts = [
        Script::new().responses_without_id(1),
        Script::new().responses_with_empty_id(1),
        Script::new().responses_with_long_id(1),
    ];
    for script in scripts {
        let s = Scenario::with(script).await;
        let message = s.alice.send(TO, "what is it called?").await.accepted();
        s.alice.status_of(&message).becomes("delivered").await;
        s.wait_for_alarms(&["acme missing-message-id "]).await;
        assert_eq!(s.resends().await, 0);
        s.assert_carrier_submits(1);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_9_success_without_a_usable_id_or_a_receipt_is_unknown_and_never_resent() {
    let s = Scenario::with(Script::new().responses_with_empty_id(1).no_receipts()).await;
    let message = s.alice.send(TO, "who knows?").await.accepted();
    s.alice.status_of(&message).becomes("submitted").await;
    for _ in 0..10 {
        s.skip(RESPONSE_TIMEOUT);
        s.pause_briefly().await;
    }
    s.assert_carrier_submits(1);
    s.advance(Duration::from_secs(97 * 3_600)).await;
    s.pause_briefly().await;
    s.alice.status_of(&message).is("submitted").await;
    assert_eq!(s.alice.status_record(&message).await["dlr"], "UNKNOWN");
    s.assert_carrier_submits(1);
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn failure_10_every_slot_of_the_window_is_released() {
    let s = Scenario::with_settings(Script::new(), "window = 2").await;
    send_and_wait_for_delivery(&s, "the slow start is over").await;
    s.set_carrier_script(Script::new().ignore_first(2));
    let mut messages = Vec::new();
    for n in 0..6 {
        messages.push(s.alice.send(TO, &format!("slot {n}")).await.accepted());
    }
    s.advance_until(Duration::from_millis(10), || s.wait_for_carrier_submits(3)).await;
    for message in &messages {
        s.advance_until(RESPONSE_TIMEOUT, || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.end().await;
}

#[tokio::test]
async fn responses_in_any_order_are_matched() {
    let s = Scenario::with(Script::new().responses_out_of_order(Duration::from_millis(50))).await;
    let mut messages = Vec::new();
    for n in 0..50 {
        messages.push(s.alice.send(TO, &format!("shuffled {n}")).await.accepted());
    }
    for message in &messages {
        s.alice.status_of(message).becomes("delivered").await;
    }
    s.end().await;
}

#[tokio::test]
async fn failure_15_unknown_status_tlvs_and_trailing_octets_keep_the_link_bound() {
    let script = Script::new()
        .reject_first(1, CommandStatus(0x04FF))
        .bodies_in_error_responses()
        .unknown_tlvs_in_responses()
        .trailing_octets_in_responses();
    let s = Scenario::with(script).await;
    let refused = s.alice.send(TO, "no").await.accepted();
    s.alice.status_of(&refused).becomes("undeliverable").await;
    send_and_wait_for_delivery(&s, "yes").await;
    let counts = s.carrier().record().counts();
    assert_eq!((counts.links_opened, counts.links_closed), (1, 0));
    s.wait_for_alarms(&["acme unknown-status 0x4ff"]).await;
    s.end().await;
}

#[tokio::test]
async fn carrier_specific_meaning_of_a_status_overrides_the_default() {
    let script = Script::new().reject_first(1, CommandStatus::SUBMITFAIL);
    let setting = "retry = [{ status = 0x45, class = \"temporary\", wait = \"9s\" }]";
    let s = Scenario::with_settings(script, setting).await;
    let message = s.alice.send(TO, "it means later").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.pause_briefly().await;
    s.alice.status_of(&message).is("queued").await;
    s.advance_until(Duration::from_secs(9), || s.alice.status_of(&message).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn carrier_that_reports_protocol_errors_is_stopped_and_its_queue_kept() {
    let s = Scenario::with(Script::new().nack_first(40, CommandStatus::INVCMDLEN)).await;
    for n in 0..60 {
        s.alice.send(TO, &format!("nonsense {n}")).await.accepted();
        if n % 10 == 9 {
            s.pause_briefly().await;
        }
    }
    let stopped = |alarm: &String| alarm.starts_with("acme carrier-stopped");
    s.wait_until("the carrier is stopped", || s.alarms().iter().any(stopped)).await;
    let seen = s.carrier().record().counts().submits;
    assert!((20..60).contains(&seen), "{seen} submits before the carrier was stopped");
    s.resume_carrier("acme");
    s.set_carrier_script(Script::new());
    s.advance_until(Duration::from_secs(1), || s.wait_for_carrier_submits(60)).await;
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn failure_20_reconnects_are_limited_while_a_carrier_is_down() {
    let s = Scenario::with(Script::new()).await;
    s.set_carrier_script(Script::new().hang_up());
    s.carrier().cut_links();
    let message = s.alice.send(TO, LONG).await.accepted();
    s.alice.assert_balance("99.85").await;
    let before = s.carrier().record().counts().links_opened;
    let attempts = || s.carrier().record().counts().links_opened - before;
    // Ten minutes in steps of a second, with real time in between for excess reconnects. On a slow machine eight take longer.
    let (began, started) = (s.now(), now());
    while s.now().since(began) < TEN_MINUTES || attempts() < 8 {
        assert!(started.elapsed() < PATIENCE, "only {} attempts", attempts());
        s.skip(Duration::from_secs(1));
        tokio::task::yield_now().await;
        let minutes = s.now().since(began).max(TEN_MINUTES).as_secs() / 60;
        assert!(attempts() <= 6 * minutes, "{} attempts in {minutes} minutes", attempts());
        pause(Duration::from_millis(4)).await;
    }
    s.alice.status_of(&message).is("queued").await;
    s.set_carrier_script(Script::new());
    s.advance_until(RECONNECT, || s.alice.status_of(&message).becomes("delivered")).await;
    s.alice.assert_balance("99.85").await;
    s.end().await;
}

#[tokio::test]
async fn failure_20_rejected_long_message_is_charged_once() {
    let refused = Script::new().reject_when(SubmitFilter::to("4915112345678"), CommandStatus::SUBMITFAIL);
    let s = Scenario::with(refused).await;
    let message = s.alice.send(TO, LONG).await.accepted();
    s.alice.status_of(&message).becomes("undeliverable").await;
    s.alice.assert_balance("99.85").await;
    s.end().await;
}
