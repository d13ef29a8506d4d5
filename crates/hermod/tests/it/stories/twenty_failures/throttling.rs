//! More of failures 6, 9 and 20: carriers that throttle one number or all of them, that take less than they were sold for,
//! and that die again and again.

use super::{RECONNECT, TO};
use crate::real_time::{PATIENCE, now};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{Script, SubmitAction, SubmitFilter};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn other(n: u32) -> String {
    format!("+49151123400{n:02}")
}

#[tokio::test]
async fn throttled_recipient_does_not_hold_up_the_others() {
    for status in [CommandStatus::THROTTLED, CommandStatus::MSGQFUL] {
        let s = Scenario::with(Script::new().reject_when(SubmitFilter::to(TO), status)).await;
        let started = s.now();
        let limited = s.alice.sends(TO, "too many for this number").await.accepted();
        s.carrier_has_seen_submits(1).await;
        let mut others = Vec::new();
        for n in 0..50 {
            others.push(s.alice.sends(&other(n), &format!("for somebody else {n}")).await.accepted());
        }
        for message in &others {
            s.stepping(SECOND, || s.alice.sees(message).becomes("delivered")).await;
        }
        let took = s.now().since(started);
        assert!(took < Duration::from_secs(60), "{status}: the others took {took:?}");
        s.alice.sees(&limited).is("queued").await;
        // Later ones do not wait at all.
        let before = s.now();
        let late = s.alice.sends(&other(99), "much later").await.accepted();
        s.stepping(SECOND, || s.alice.sees(&late).becomes("delivered")).await;
        assert!(s.now().since(before) < Duration::from_secs(10), "{:?}", s.now().since(before));
        s.carrier_does(Script::new());
        s.stepping(10 * SECOND, || s.alice.sees(&limited).becomes("delivered")).await;
        s.carrier_received_once("too many for this number");
        s.alice.has("97.4").await;
        s.end().await;
    }
}

#[tokio::test]
async fn carrier_that_takes_less_than_configured_is_not_flooded() {
    const MESSAGES: u32 = 400;
    let s = Scenario::by_the_real_clock(Script::new().rate_max(50), "window = 10").await;
    for n in 0..MESSAGES {
        let to = format!("+4915112{n:06}");
        s.alice.sends(&to, "as fast as you can").await.accepted();
    }
    let seen = s.carrier().record();
    let all = |record: &hermod_simulator::carrier::Record| {
        record.counts().submits - record.counts().rate_violations >= u64::from(MESSAGES)
    };
    seen.wait_until(all, 4 * PATIENCE).await.expect("everything is taken");
    let throttled = seen.counts().rate_violations;
    assert!(throttled <= u64::from(MESSAGES / 10), "{throttled} of {MESSAGES} were throttled on the way");
    s.everything_settles().await;
    s.end().await;
}

#[tokio::test]
async fn carrier_that_dies_at_every_first_submit_has_one_part_in_doubt_each_time() {
    const DEATHS: u64 = 8;
    let s = Scenario::with(Script::new().rule(SubmitFilter::first(DEATHS), SubmitAction::CutBeforeResponse))
        .await;
    let mut messages = Vec::new();
    for n in 0..100 {
        messages.push(s.alice.sends(&other(n), &format!("into the abyss {n}")).await.accepted());
    }
    s.stepping(SECOND, || s.carrier_has_seen_submits(DEATHS)).await;
    let links = s.carrier().record().counts().links_opened;
    assert!(links >= DEATHS, "{DEATHS} parts were lost on {links} links: a new link starts with one");
    for message in &messages {
        s.stepping(RECONNECT, || s.alice.sees(message).becomes("delivered")).await;
    }
    assert!(s.resends().await <= DEATHS);
    s.alice.has("95").await;
    s.end().await;
}

#[tokio::test]
async fn link_that_carried_messages_is_bound_again_at_once_however_often_it_is_cut() {
    let s = Scenario::with(Script::new().rule(SubmitFilter::every(10), SubmitAction::CutAfterResponse)).await;
    let (started, mut messages) = (s.now(), Vec::new());
    for n in 0..95 {
        messages.push(s.alice.sends(&other(n), &format!("on and on {n}")).await.accepted());
    }
    let cuts = || s.carrier().record().counts().links_opened;
    s.stepping(SECOND, || s.links_have_been(9)).await;
    let took = s.now().since(started);
    assert!(took < Duration::from_secs(45), "{} links in {took:?}", cuts());
    for message in &messages {
        s.stepping(RECONNECT, || s.alice.sees(message).becomes("delivered")).await;
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
        s.alice.sends(&other(n), &format!("nobody answers {n}")).await.accepted();
    }
    s.stepping(SECOND, || s.alarms_are(&["acme carrier-down "])).await;
    let links = s.carrier().record().counts().links_opened;
    let started = now();
    while s.carrier().record().counts().links_opened < links + 3 {
        assert!(started.elapsed() < PATIENCE, "no more links");
        assert!(s.alarms().contains(&"acme carrier-down ".to_owned()), "{:?}", s.alarms());
        s.skip(SECOND);
        s.a_moment_passes().await;
    }
    s.carrier_does(Script::new());
    s.stepping(RECONNECT, || s.everything_settles()).await;
    s.stepping(SECOND, || s.alarms_are(&[])).await;
    s.end().await;
}

#[tokio::test]
async fn messages_that_wait_too_long_for_a_carrier_raise_an_alarm() {
    let mut s = Scenario::without_carrier().await;
    let message = s.alice.sends(TO, "is anybody there?").await.accepted();
    s.skip(Duration::from_secs(280));
    s.alarms_are(&["acme carrier-down "]).await;
    s.a_moment_passes().await;
    s.alarms_are(&["acme carrier-down "]).await;
    s.stepping(5 * SECOND, || s.alarms_are(&["acme carrier-down ", "acme queue-age "])).await;
    s.carrier_comes_back(Script::new()).await;
    s.stepping(10 * SECOND, || s.alice.sees(&message).becomes("delivered")).await;
    s.stepping(SECOND, || s.alarms_are(&[])).await;
    s.end().await;
}
