//! More of failures 6, 9 and 20: carriers that throttle one or all recipients, that accept less than the configured rate,
//! and that crash repeatedly.

use super::{RECONNECT, TO};
use crate::real_time::{PATIENCE, now};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitAction, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// A step of the clock where a test bounds how far it has to go: in a step the gateway and the carrier answer each other at least
/// once, so that [`MANY_STEPS`] are enough on any machine.
const SHORT_STEP: Duration = Duration::from_millis(250);
/// Bounds the time that passes in steps of [`SHORT_STEP`].
const MANY_STEPS: Duration = Duration::from_secs(120);

fn other(n: u32) -> String {
    format!("+49151123400{n:02}")
}

#[tokio::test]
async fn throttled_recipient_does_not_delay_other_recipients() {
    for status in [CommandStatus::THROTTLED, CommandStatus::MSGQFUL] {
        let s = Scenario::with(Script::new().reject_when(SubmitFilter::to(TO), status)).await;
        let started = s.now();
        let limited = s.alice.send(TO, "too many for this number").await.accepted();
        s.wait_for_carrier_submits(1).await;
        let mut others = Vec::new();
        for n in 0..50 {
            others.push(s.alice.send(&other(n), &format!("other recipient {n}")).await.accepted());
        }
        for message in &others {
            s.advance_until(SHORT_STEP, || s.alice.status_of(message).becomes("delivered")).await;
        }
        let took = s.now().since(started);
        assert!(took < MANY_STEPS, "{status}: the others took {took:?}");
        s.alice.status_of(&limited).is("queued").await;
        // Later messages do not wait.
        let before = s.now();
        let late = s.alice.send(&other(99), "much later").await.accepted();
        s.advance_until(SHORT_STEP, || s.alice.status_of(&late).becomes("delivered")).await;
        assert!(s.now().since(before) < MANY_STEPS, "{:?}", s.now().since(before));
        s.set_carrier_script(Script::new());
        s.advance_until(10 * SECOND, || s.alice.status_of(&limited).becomes("delivered")).await;
        s.assert_carrier_received_once("too many for this number");
        s.alice.assert_balance("97.4").await;
        s.end().await;
    }
}

#[tokio::test]
async fn carrier_below_its_configured_rate_is_throttled_rarely() {
    const MESSAGES: u32 = 400;
    let s = Scenario::with_real_clock(Script::new().rate_max(50), "window = 10").await;
    for n in 0..MESSAGES {
        let to = format!("+4915112{n:06}");
        s.alice.send(&to, "as fast as you can").await.accepted();
    }
    let seen = s.carrier().record();
    let all = |record: &hermod_simulator::carrier::CarrierRecord| {
        record.counts().submits - record.counts().rate_violations >= u64::from(MESSAGES)
    };
    seen.wait_until(all, PATIENCE).await.expect("all messages are accepted");
    let throttled = seen.counts().rate_violations;
    assert!(throttled <= u64::from(MESSAGES / 10), "{throttled} of {MESSAGES} were throttled");
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn carrier_that_crashes_at_every_first_submit_has_one_part_in_doubt_each_time() {
    const DEATHS: u64 = 8;
    let s = Scenario::with(Script::new().rule(SubmitFilter::first(DEATHS), SubmitAction::CutBeforeResponse))
        .await;
    let mut messages = Vec::new();
    for n in 0..100 {
        messages.push(s.alice.send(&other(n), &format!("into the abyss {n}")).await.accepted());
    }
    s.advance_until(SECOND, || s.wait_for_carrier_submits(DEATHS)).await;
    let links = s.carrier().record().counts().links_opened;
    assert!(links >= DEATHS, "{DEATHS} parts were lost on {links} links: a new link starts with one part");
    for message in &messages {
        s.advance_until(RECONNECT, || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert!(s.resends().await <= DEATHS);
    s.alice.assert_balance("95").await;
    s.end().await;
}

#[tokio::test]
async fn link_that_sent_messages_is_bound_again_at_once_after_every_cut() {
    let s = Scenario::with(Script::new().rule(SubmitFilter::every(10), SubmitAction::CutAfterResponse)).await;
    let (started, mut messages) = (s.now(), Vec::new());
    for n in 0..95 {
        messages.push(s.alice.send(&other(n), &format!("on and on {n}")).await.accepted());
    }
    let cuts = || s.carrier().record().counts().links_opened;
    // With the waits between failed attempts it would take two minutes on average.
    s.advance_until(SHORT_STEP / 2, || s.wait_for_opened_links(9)).await;
    let took = s.now().since(started);
    assert!(took < Duration::from_secs(45), "{} links in {took:?}", cuts());
    for message in &messages {
        s.advance_until(RECONNECT, || s.alice.status_of(message).becomes("delivered")).await;
    }
    s.end().await;
}

#[tokio::test]
async fn carrier_that_binds_and_drops_raises_an_alarm_that_stays() {
    let s = Scenario::with(
        Script::new().rule(SubmitFilter::always(), SubmitAction::CutBeforeResponse).no_receipts(),
    )
    .await;
    for n in 0..30 {
        s.alice.send(&other(n), &format!("no response {n}")).await.accepted();
    }
    s.advance_until(SECOND, || s.wait_for_alarms(&["acme carrier-down "])).await;
    let links = s.carrier().record().counts().links_opened;
    let started = now();
    while s.carrier().record().counts().links_opened < links + 3 {
        assert!(started.elapsed() < PATIENCE, "no more links");
        assert!(s.alarms().contains(&"acme carrier-down ".to_owned()), "{:?}", s.alarms());
        s.skip(SECOND);
        s.pause_briefly().await;
    }
    s.set_carrier_script(Script::new());
    s.advance_until(RECONNECT, || s.wait_until_no_open_parts()).await;
    s.advance_until(SECOND, || s.wait_for_alarms(&[])).await;
    s.end().await;
}

#[tokio::test]
async fn messages_that_wait_too_long_for_a_carrier_raise_an_alarm() {
    let mut s = Scenario::without_carrier().await;
    let message = s.alice.send(TO, "no carrier").await.accepted();
    s.skip(Duration::from_secs(280));
    s.wait_for_alarms(&["acme carrier-down "]).await;
    s.pause_briefly().await;
    s.wait_for_alarms(&["acme carrier-down "]).await;
    s.advance_until(5 * SECOND, || s.wait_for_alarms(&["acme carrier-down ", "acme queue-age "])).await;
    s.start_carrier_again(Script::new()).await;
    s.advance_until(10 * SECOND, || s.alice.status_of(&message).becomes("delivered")).await;
    s.advance_until(SECOND, || s.wait_for_alarms(&[])).await;
    s.end().await;
}
