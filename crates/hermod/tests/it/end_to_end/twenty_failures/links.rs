//! Failures 11 to 14 and 16: links that stall, are half-open, or end without unbind.

use super::{RECONNECT, TO, send_and_wait_for_delivery};
use crate::scenario::Scenario;
use hermod_simulator::carrier::{MoText, Script};
use hermod_smpp::CommandStatus;
use std::time::Duration;

#[tokio::test]
async fn failure_11_link_to_a_carrier_that_stops_reading_is_closed() {
    let s = Scenario::with(Script::new()).await;
    s.carrier().stall_links(Duration::from_secs(3600));
    let mut messages = Vec::new();
    for n in 0..5 {
        messages.push(s.alice.send(TO, &format!("into the wall {n}")).await.accepted());
    }
    for message in &messages {
        s.advance_until(Duration::from_secs(30), || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert!(s.carrier().record().counts().links_opened >= 2);
    s.end().await;
}

#[tokio::test]
async fn failure_12_half_open_link_is_detected() {
    let s = Scenario::with(Script::new().mute_after(1)).await;
    let first = s.alice.send(TO, "the last word").await.accepted();
    s.wait_for_carrier_submits(1).await;
    // Thirty seconds of inactivity, and two enquire_link of ten seconds without a response.
    s.advance_until(Duration::from_secs(10), || s.wait_for_opened_links(2)).await;
    s.set_carrier_script(Script::new());
    send_and_wait_for_delivery(&s, "on a new link").await;
    s.advance_until(RECONNECT, || s.alice.status_of(&first).becomes("delivered")).await;
    s.end().await;
}

#[tokio::test]
async fn failure_13_already_bound_response_delays_the_next_bind() {
    let s = Scenario::with(Script::new().already_bound_for(Duration::from_secs(3_600))).await;
    s.carrier().cut_links();
    s.advance_until(Duration::from_secs(1), || s.wait_for_refused_binds(1)).await;
    s.wait_for_alarms(&["acme already-bound "]).await;
    // The carrier has dropped the old link; the next bind follows after a minute.
    s.set_carrier_script(Script::new());
    let binds = || s.carrier().record().counts().binds;
    let before = binds();
    s.skip(Duration::from_secs(50));
    s.pause_briefly().await;
    assert_eq!(binds(), before, "too early");
    s.skip(Duration::from_secs(16));
    send_and_wait_for_delivery(&s, "bound again").await;
    assert_eq!(binds(), before + 1);
    s.advance_until(Duration::from_secs(1), || s.wait_for_alarms(&[])).await;
    s.end().await;
}

#[tokio::test]
async fn failure_14_unbind_is_answered_and_a_stopping_gateway_unbinds() {
    let s = Scenario::with(Script::new().unbind_before_response(1)).await;
    let message = s.alice.send(TO, "in the middle of it").await.accepted();
    s.advance_until(RECONNECT, || s.alice.status_of(&message).becomes("delivered")).await;
    assert_eq!(s.resends().await, 1);
    let record = s.carrier().record();
    let before = record.counts().unbinds;
    s.end().await;
    assert_eq!(record.counts().unbinds, before + 1, "a stopping gateway unbinds");
}

#[tokio::test]
async fn failure_14_unbind_without_a_response_does_not_delay_the_stop() {
    let s = Scenario::with(Script::new().ignore_unbinds()).await;
    send_and_wait_for_delivery(&s, "before the end").await;
    s.end_advancing(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn failure_16_invalid_octets_close_only_their_link() {
    for script in [
        Script::new().garbage_after_response(1),
        Script::new().bad_length_after(1, 0),
        Script::new().bad_length_after(1, 15),
        Script::new().bad_length_after(1, 1 << 31),
        Script::new().bad_length_after(1, u32::MAX),
    ] {
        let s = Scenario::with(script).await;
        let first = s.alice.send(TO, "before the noise").await.accepted();
        s.advance_until(RECONNECT, || s.alice.status_of(&first).becomes("delivered")).await;
        let second = s.alice.send(TO, "after the noise").await.accepted();
        s.advance_until(RECONNECT, || s.alice.status_of(&second).becomes("delivered")).await;
        s.assert_carrier_received_once("after the noise");
        s.end().await;
    }
}

#[tokio::test]
async fn failure_18_mo_parts_in_any_order_with_any_header_are_one_message() {
    let s = Scenario::with(Script::new()).await;
    s.provision("[[number]]\nnumber = \"12345\"\naccount = \"alice\"\n").await;
    let long =
        "Each of these parts has more than one element in its header, and they come in the wrong order. "
            .repeat(3);
    let mut parts = MoText::new("4915112345678", "12345", &long).with_element(0x05, &[0, 80, 0, 80]).parts();
    parts.reverse();
    s.carrier().send_mo_parts(parts);
    assert_eq!(s.alice.wait_for_inbound(1).await, [long]);
    let record = s.carrier().record();
    assert!(record.mo().iter().all(|mo| mo.response.is_none_or(|status| status == CommandStatus::OK)));
    send_and_wait_for_delivery(&s, "on the next link").await;
    assert_eq!(record.counts().links_opened, 1);
    s.end().await;
}

#[tokio::test]
async fn links_start_one_after_the_other_and_share_the_messages() {
    let s = Scenario::with_settings(Script::new(), "links = 3\nwindow = 1").await;
    assert_eq!(s.carrier().record().counts().binds, 1, "the others come a second apart");
    s.wait_for_links(3).await;
    s.set_carrier_script(Script::new().delay(Duration::from_millis(100)));
    let mut messages = Vec::new();
    for n in 0..12 {
        messages.push(s.alice.send(TO, &format!("shared {n}")).await.accepted());
    }
    for message in &messages {
        s.advance_until(Duration::from_millis(100), || s.alice.status_of(message).becomes("delivered")).await;
    }
    let used: std::collections::BTreeSet<u64> =
        s.carrier().record().submits().iter().map(|submit| submit.link).collect();
    assert_eq!(used.len(), 3);
    s.end().await;
}
