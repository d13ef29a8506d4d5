//! Failures 6 to 10, 15 and 20: going too fast, answers that are late, lost, odd or refusals, and going round in circles.

use super::{RECONNECT, TO, one_is_delivered};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
const LONG: &str = "A long message of three parts has to count as three against a carrier's rate, since what a \
    carrier counts are submit_sm, one for each part. Whoever counts messages instead sends three times too fast, is \
    throttled for it, and loses the order of everything that waits behind. So this text goes on and on, until it \
    takes three parts: that is more than three hundred and six characters of the alphabet of GSM.";

#[tokio::test]
async fn failure_6_throttling_pauses_the_link_and_keeps_the_order() {
    for script in [Script::new().throttle_bursts(2, 5), Script::new().queue_full(3)] {
        let s = Scenario::with_settings(script, "window = 1").await;
        let mut messages = Vec::new();
        for n in 0..10 {
            messages.push(s.alice.sends(TO, &format!("in order {n}")).await.accepted());
        }
        for message in &messages {
            s.stepping(Duration::from_secs(1), || s.alice.sees(message).becomes("delivered")).await;
        }
        let taken: Vec<String> = (0..10).map(|n| format!("in order {n}")).collect();
        assert_eq!(s.carrier_texts(), taken);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_7_the_rate_counts_parts() {
    let s = Scenario::with_settings(Script::new().rate_max(30), "rate = 10\nlinks = 2").await;
    s.links_are_up(2).await;
    let mut messages = Vec::new();
    for _ in 0..5 {
        messages.push(s.alice.sends(TO, LONG).await.accepted());
    }
    for message in &messages {
        s.stepping(Duration::from_millis(100), || s.alice.sees(message).becomes("delivered")).await;
    }
    let record = s.carrier().record();
    assert_eq!((record.counts().submits, record.counts().rate_violations), (15, 0));
    assert!(
        record.received().iter().all(|joined| joined.is_on_one_link_in_order()),
        "all parts of one on one link"
    );
    s.end().await;
}

#[tokio::test]
async fn failure_8_a_retry_still_wants_its_receipt() {
    let s = Scenario::with(Script::new().reject_first(1, CommandStatus::SYSERR)).await;
    let message = s.alice.sends(TO, "again").await.accepted();
    s.stepping(Duration::from_secs(5), || s.alice.sees(&message).becomes("delivered")).await;
    let submits = s.carrier().record().submits();
    assert_eq!(submits.iter().map(|submit| submit.registered_delivery).collect::<Vec<_>>(), [1, 1]);
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_9_a_lost_answer_is_a_doubt_and_one_copy_at_most() {
    let s = Scenario::with(Script::new().lose_responses(1)).await;
    let message = s.alice.sends(TO, "did you get it?").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.stepping(RESPONSE_TIMEOUT, || s.alice.sees(&message).becomes("delivered")).await;
    assert_eq!((s.carrier().record().duplicates(), s.resends().await), (1, 1));
    s.alice.has("99.95").await;
    s.end().await;
}

#[tokio::test]
async fn failure_9_a_carrier_may_ask_never_to_get_a_copy() {
    let s = Scenario::with_settings(Script::new().lose_responses(1), "in_doubt = \"never-resend\"").await;
    let message = s.alice.sends(TO, "once is enough").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.stepping(RESPONSE_TIMEOUT, || s.alice.sees(&message).becomes("submitted")).await;
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
        let message = s.alice.sends(TO, "what is it called?").await.accepted();
        s.alice.sees(&message).becomes("delivered").await;
        s.alarms_are(&["acme missing-message-id "]).await;
        assert_eq!(s.resends().await, 0);
        s.carrier_saw_submits(1);
        s.end().await;
    }
}

#[tokio::test]
async fn failure_9_success_without_a_usable_id_or_a_receipt_is_unknown_and_never_resent() {
    let s = Scenario::with(Script::new().responses_with_empty_id(1).no_receipts()).await;
    let message = s.alice.sends(TO, "who knows?").await.accepted();
    s.alice.sees(&message).becomes("submitted").await;
    for _ in 0..10 {
        s.skip(RESPONSE_TIMEOUT);
        s.a_moment_passes().await;
    }
    s.carrier_saw_submits(1);
    s.advance(Duration::from_secs(97 * 3_600)).await;
    s.a_moment_passes().await;
    s.alice.sees(&message).is("submitted").await;
    assert_eq!(s.alice.asks_for(&message).await["dlr"], "UNKNOWN");
    s.carrier_saw_submits(1);
    s.end_with_open_parts(1).await;
}

#[tokio::test]
async fn failure_10_every_slot_of_the_window_comes_back() {
    let s = Scenario::with_settings(Script::new(), "window = 2").await;
    one_is_delivered(&s, "the slow start is over").await;
    s.carrier_does(Script::new().ignore_first(2));
    let mut messages = Vec::new();
    for n in 0..6 {
        messages.push(s.alice.sends(TO, &format!("slot {n}")).await.accepted());
    }
    s.stepping(Duration::from_millis(10), || s.carrier_has_seen_submits(3)).await;
    for message in &messages {
        s.stepping(RESPONSE_TIMEOUT, || s.alice.sees(message).becomes("delivered")).await;
    }
    s.end().await;
}

#[tokio::test]
async fn answers_may_come_in_any_order() {
    let s = Scenario::with(Script::new().responses_out_of_order(Duration::from_millis(50))).await;
    let mut messages = Vec::new();
    for n in 0..50 {
        messages.push(s.alice.sends(TO, &format!("shuffled {n}")).await.accepted());
    }
    for message in &messages {
        s.alice.sees(message).becomes("delivered").await;
    }
    s.end().await;
}

#[tokio::test]
async fn failure_15_what_nobody_knows_does_not_cost_the_link() {
    let script = Script::new()
        .reject_first(1, CommandStatus(0x04FF))
        .bodies_in_error_responses()
        .unknown_tlvs_in_responses()
        .trailing_octets_in_responses();
    let s = Scenario::with(script).await;
    let refused = s.alice.sends(TO, "no").await.accepted();
    s.alice.sees(&refused).becomes("undeliverable").await;
    one_is_delivered(&s, "yes").await;
    let counts = s.carrier().record().counts();
    assert_eq!((counts.links_opened, counts.links_closed), (1, 0));
    s.alarms_are(&["acme unknown-status 0x4ff"]).await;
    s.end().await;
}

#[tokio::test]
async fn a_carriers_own_meaning_of_a_code_wins() {
    let script = Script::new().reject_first(1, CommandStatus::SUBMITFAIL);
    let setting = "retry = [{ status = 0x45, class = \"temporary\", wait = \"9s\" }]";
    let s = Scenario::with_settings(script, setting).await;
    let message = s.alice.sends(TO, "it means later").await.accepted();
    s.carrier_has_seen_submits(1).await;
    s.a_moment_passes().await;
    s.alice.sees(&message).is("queued").await;
    s.stepping(Duration::from_secs(9), || s.alice.sees(&message).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn a_carrier_that_cannot_make_sense_of_us_is_stopped_and_its_queue_kept() {
    let s = Scenario::with(Script::new().nack_first(40, CommandStatus::INVCMDLEN)).await;
    for n in 0..60 {
        s.alice.sends(TO, &format!("nonsense {n}")).await.accepted();
        if n % 10 == 9 {
            s.a_moment_passes().await;
        }
    }
    s.a_moment_passes().await;
    let alarms = s.alarms();
    assert!(alarms.iter().any(|alarm| alarm.starts_with("acme carrier-stopped")), "{alarms:?}");
    let seen = s.carrier().record().counts().submits;
    assert!((20..60).contains(&seen), "{seen} were sent before somebody pulled the brake");
    s.operator_resumes("acme");
    s.carrier_does(Script::new());
    s.stepping(Duration::from_secs(1), || s.carrier_has_seen_submits(60)).await;
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn failure_20_nobody_goes_round_in_circles_while_a_carrier_is_away() {
    let s = Scenario::with(Script::new()).await;
    s.carrier_does(Script::new().hang_up());
    s.carrier().cut_links();
    let message = s.alice.sends(TO, LONG).await.accepted();
    s.alice.has("99.85").await;
    let before = s.carrier().record().counts().links_opened;
    // Ten minutes in steps of a second, each with real time in between for whoever would run wild.
    for _ in 0..600 {
        s.skip(Duration::from_secs(1));
        tokio::task::yield_now().await;
        if s.carrier().record().counts().links_opened - before > 60 {
            break;
        }
        crate::real_time::pause(Duration::from_millis(4)).await;
    }
    let attempts = s.carrier().record().counts().links_opened - before;
    assert!((8..=60).contains(&attempts), "{attempts} attempts in ten minutes");
    s.alice.sees(&message).is("queued").await;
    s.carrier_does(Script::new());
    s.stepping(RECONNECT, || s.alice.sees(&message).becomes("delivered")).await;
    s.alice.has("99.85").await;
    s.end().await;
}

#[tokio::test]
async fn failure_20_a_refused_message_is_charged_once_and_not_again() {
    let refused = Script::new().reject_when(SubmitFilter::to("4915112345678"), CommandStatus::SUBMITFAIL);
    let s = Scenario::with(refused).await;
    let message = s.alice.sends(TO, LONG).await.accepted();
    s.alice.sees(&message).becomes("undeliverable").await;
    s.alice.has("99.85").await;
    s.end().await;
}
