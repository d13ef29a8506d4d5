//! Delivery of MO messages to binds.

use super::*;
use crate::scenario::Esme;
use hermod_smpp::{BindType, VERSION_3_3};
use std::time::Duration;

const HALF_MINUTE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn mo_messages_wait_for_a_bind_over_a_restart() {
    let mut s = stage(Script::new(), "", "").await;
    s.carrier().send_mo_parts(mo_parts("first"));
    s.alice.wait_for_inbound(1).await;
    s.restart().await;
    s.carrier().send_mo_parts(mo_parts("second"));
    s.alice.wait_for_inbound(2).await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    assert_eq!(receiver.take_mo().await.octets, b"first");
    assert_eq!(receiver.take_mo().await.octets, b"second");
    receiver.unbind().await;
    let mut again = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    again.assert_nothing_received().await;
    drop(again);
    s.end().await;
}

#[tokio::test]
async fn long_mo_message_of_more_parts_than_the_window_is_done_when_all_parts_are_answered() {
    let s = stage(Script::new(), "", "window = 2").await;
    let text = "0123456789".repeat(60);
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts(&text));
    let mut parts = vec![alice.take_mo_unanswered().await, alice.take_mo_unanswered().await];
    alice.assert_nothing_received().await;
    for part in parts.clone() {
        alice.answer_mo(&part, CommandStatus::OK).await;
        parts.push(alice.take_mo_unanswered().await);
    }
    for part in &parts[2..] {
        alice.answer_mo(part, CommandStatus::OK).await;
    }
    let headers: Vec<_> = parts.iter().map(|part| (part.esm_class, part.octets[..6].to_vec())).collect();
    let expect: Vec<_> = (1..=4).map(|number| (0x40, vec![5, 0, 3, 1, 4, number])).collect();
    assert_eq!(headers, expect);
    let joined: Vec<u8> = parts.iter().flat_map(|part| part.octets[6..].to_vec()).collect();
    assert_eq!(String::from_utf8(joined).unwrap(), text);
    alice.wait_until_read().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    alice.assert_nothing_received().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn failed_part_repeats_the_whole_mo_message() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts(&"x".repeat(400)));
    let mut first = Vec::new();
    for status in [CommandStatus::OK, CommandStatus::X_T_APPN, CommandStatus::OK] {
        let part = alice.take_mo_unanswered().await;
        alice.answer_mo(&part, status).await;
        first.push(part.octets);
    }
    alice.wait_until_read().await;
    alice.assert_nothing_received().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    let mut second = Vec::new();
    for _ in 0..3 {
        second.push(alice.take_mo().await.octets);
    }
    assert_eq!(second, first, "the same parts under the same reference");
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn late_response_to_a_short_mo_message_stops_the_repeat() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts("slow"));
    let message = alice.take_mo_unanswered().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    s.pause_briefly().await;
    alice.answer_mo(&message, CommandStatus::OK).await;
    alice.wait_until_read().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(5));
    s.carrier().send_mo_parts(mo_parts("next"));
    assert_eq!(alice.take_mo().await.octets, b"next");
    alice.assert_nothing_received().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn long_mo_message_is_one_payload_if_configured_and_parts_on_a_3_3_bind() {
    let s = stage(Script::new(), "", "inbound = \"payload\"").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts(&"Ж".repeat(200)));
    let brought = alice.take_mo().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.in_payload), (0, 8, true));
    assert_eq!(brought.octets, [0x04, 0x16].repeat(200));
    alice.unbind().await;
    let mut old = Esme::connect(s.smpp_address()).await;
    let bound = old.try_bind(BindType::Receiver, "alice", "secret12", VERSION_3_3).await;
    assert_eq!(bound, CommandStatus::OK);
    s.carrier().send_mo_parts(mo_parts(&"x".repeat(161)));
    for _ in 0..2 {
        let part = old.take_mo().await;
        assert_eq!((part.esm_class, part.in_payload), (0x40, false));
    }
    drop(old);
    s.end().await;
}

#[tokio::test]
async fn connection_without_inbound_gets_no_mo_and_a_rejected_mo_can_be_polled() {
    let s = stage(Script::new(), "", "inbound = \"none\"").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts("only to be polled"));
    s.alice.wait_for_inbound(1).await;
    alice.assert_nothing_received().await;
    alice.unbind().await;
    s.provision(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\ninbound = \"parts\"\n",
    )
    .await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(mo_parts("refused"));
    let message = alice.take_mo_unanswered().await;
    alice.answer_mo(&message, CommandStatus::X_P_APPN).await;
    alice.wait_until_read().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    alice.assert_nothing_received().await;
    assert_eq!(s.alice.wait_for_inbound(2).await, ["only to be polled", "refused"]);
    assert_eq!(s.given_up().await, ["MO the customer refused it with 0x65"]);
    drop(alice);
    s.end().await;
}
