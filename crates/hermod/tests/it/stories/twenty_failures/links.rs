//! Failures 11 to 14 and 16: links that are dead, half dead, or ended badly.

use super::{RECONNECT, TO, one_is_delivered};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{MoText, Script};
use hermod_smpp::CommandStatus;
use std::time::Duration;

#[tokio::test]
async fn failure_11_a_carrier_that_stops_reading_is_left() {
    let s = Scenario::with(Script::new()).await;
    s.carrier().stall_links(Duration::from_secs(3600));
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(s.alice.sends(TO, &format!("into the wall {n}")).await.accepted());
    }
    for message in &messages {
        s.stepping(Duration::from_secs(30), || s.alice.sees(message).becomes("delivered")).await;
    }
    assert!(s.carrier().record().counts().links_opened >= 2);
    s.end().await;
}

#[tokio::test]
async fn failure_12_a_half_open_link_is_noticed() {
    let s = Scenario::with(Script::new().mute_after(1)).await;
    let first = s.alice.sends(TO, "the last word").await.accepted();
    s.carrier_has_seen_submits(1).await;
    // Thirty seconds of silence, and two questions of ten seconds that nobody answers.
    s.stepping(Duration::from_secs(10), || s.links_have_been(2)).await;
    s.carrier_does(Script::new());
    one_is_delivered(&s, "on a new link").await;
    s.stepping(RECONNECT, || s.alice.sees(&first).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn failure_13_a_carrier_that_thinks_we_are_bound_is_given_time() {
    let s = Scenario::with(Script::new().already_bound_for(Duration::from_millis(400))).await;
    s.carrier().cut_links();
    s.stepping(Duration::from_secs(1), || s.binds_were_refused(1)).await;
    s.alarms_are(&["acme already-bound "]).await;
    // The carrier has forgotten the old link by now, and is not asked again before a minute is over.
    crate::real_time::pause(Duration::from_millis(500)).await;
    let binds = || s.carrier().record().counts().binds;
    let before = binds();
    s.skip(Duration::from_secs(50));
    s.a_moment_passes().await;
    assert_eq!(binds(), before, "too early");
    s.skip(Duration::from_secs(16));
    one_is_delivered(&s, "bound again").await;
    assert_eq!(binds(), before + 1);
    s.stepping(Duration::from_secs(1), || s.alarms_are(&[])).await;
    s.end().await;
}

#[tokio::test]
async fn failure_14_an_unbind_is_answered_and_ours_is_said() {
    let s = Scenario::with(Script::new().unbind_before_response(1)).await;
    let message = s.alice.sends(TO, "in the middle of it").await.accepted();
    s.stepping(RECONNECT, || s.alice.sees(&message).becomes("delivered")).await;
    assert_eq!(s.resends().await, 1);
    let record = s.carrier().record();
    let before = record.counts().unbinds;
    s.end().await;
    assert_eq!(record.counts().unbinds, before + 1, "a gateway that stops says so");
}

#[tokio::test]
async fn failure_14_an_unbind_that_is_not_answered_does_not_keep_us() {
    let s = Scenario::with(Script::new().ignore_unbinds()).await;
    one_is_delivered(&s, "before the end").await;
    s.end_stepping(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn failure_16_garbage_costs_one_link_and_nothing_else() {
    for script in [
        Script::new().garbage_after_response(1),
        Script::new().bad_length_after(1, 0),
        Script::new().bad_length_after(1, 15),
        Script::new().bad_length_after(1, 1 << 31),
        Script::new().bad_length_after(1, u32::MAX),
    ] {
        let s = Scenario::with(script).await;
        let first = s.alice.sends(TO, "before the noise").await.accepted();
        s.stepping(RECONNECT, || s.alice.sees(&first).becomes("delivered")).await;
        let second = s.alice.sends(TO, "after the noise").await.accepted();
        s.stepping(RECONNECT, || s.alice.sees(&second).becomes("delivered")).await;
        s.carrier_received_once("after the noise");
        s.end().await;
    }
}

#[tokio::test]
async fn failure_18_parts_in_any_order_with_any_header_are_one_message() {
    let s = Scenario::with(Script::new()).await;
    s.operator_provisions("[[number]]\nnumber = \"12345\"\naccount = \"alice\"\n").await;
    let long =
        "Each of these parts has more than one element in its header, and they come in the wrong order. "
            .repeat(3);
    let mut parts = MoText::new("4915112345678", "12345", &long).with_element(0x05, &[0, 80, 0, 80]).parts();
    parts.reverse();
    s.carrier().send_mo_parts(parts);
    assert_eq!(s.alice.has_inbound(1).await, [long]);
    let record = s.carrier().record();
    assert!(record.mo().iter().all(|mo| mo.response.is_none_or(|status| status == CommandStatus::OK)));
    one_is_delivered(&s, "and the link goes on").await;
    assert_eq!(record.counts().links_opened, 1);
    s.end().await;
}

#[tokio::test]
async fn links_start_one_after_the_other_and_share_the_work() {
    let s = Scenario::with_settings(Script::new(), "links = 3\nwindow = 1").await;
    assert_eq!(s.carrier().record().counts().binds, 1, "the others come a second apart");
    s.links_are_up(3).await;
    s.carrier_does(Script::new().delay(Duration::from_millis(100)));
    let mut messages = Vec::new();
    for n in 0..12 {
        messages.push(s.alice.sends(TO, &format!("shared {n}")).await.accepted());
    }
    for message in &messages {
        s.stepping(Duration::from_millis(100), || s.alice.sees(message).becomes("delivered")).await;
    }
    let used: std::collections::BTreeSet<u64> =
        s.carrier().record().submits().iter().map(|submit| submit.link).collect();
    assert_eq!(used.len(), 3);
    s.end().await;
}
