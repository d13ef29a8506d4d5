//! How messages are brought to those who bind.

use super::*;
use crate::scenario::Esme;
use hermod_smpp::{BindType, VERSION_3_3};
use std::time::Duration;

const HALF_MINUTE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn messages_wait_until_somebody_is_bound_even_over_a_restart() {
    let mut s = stage(Script::new(), "", "").await;
    s.carrier().send_mo_parts(says("first"));
    s.alice.has_inbound(1).await;
    s.restart().await;
    s.carrier().send_mo_parts(says("second"));
    s.alice.has_inbound(2).await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    assert_eq!(receiver.gets_message().await.octets, b"first");
    assert_eq!(receiver.gets_message().await.octets, b"second");
    receiver.unbinds().await;
    let mut again = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    again.gets_nothing().await;
    drop(again);
    s.end().await;
}

#[tokio::test]
async fn a_long_message_comes_in_parts_more_than_the_window_holds_and_is_done_when_all_are_answered() {
    let s = stage(Script::new(), "", "window = 2").await;
    let text = "0123456789".repeat(60);
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says(&text));
    let mut parts = vec![alice.gets_message_unanswered().await, alice.gets_message_unanswered().await];
    alice.gets_nothing().await;
    for part in parts.clone() {
        alice.answers_message(&part, CommandStatus::OK).await;
        parts.push(alice.gets_message_unanswered().await);
    }
    for part in &parts[2..] {
        alice.answers_message(part, CommandStatus::OK).await;
    }
    let headers: Vec<_> = parts.iter().map(|part| (part.esm_class, part.octets[..6].to_vec())).collect();
    let expect: Vec<_> = (1..=4).map(|number| (0x40, vec![5, 0, 3, 1, 4, number])).collect();
    assert_eq!(headers, expect);
    let joined: Vec<u8> = parts.iter().flat_map(|part| part.octets[6..].to_vec()).collect();
    assert_eq!(String::from_utf8(joined).unwrap(), text);
    s.a_moment_passes().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    alice.gets_nothing().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn one_part_that_fails_has_the_whole_brought_again() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says(&"x".repeat(400)));
    let mut first = Vec::new();
    for status in [CommandStatus::OK, CommandStatus::X_T_APPN, CommandStatus::OK] {
        let part = alice.gets_message_unanswered().await;
        alice.answers_message(&part, status).await;
        first.push(part.octets);
    }
    alice.gets_nothing().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    let mut second = Vec::new();
    for _ in 0..3 {
        second.push(alice.gets_message().await.octets);
    }
    assert_eq!(second, first, "the same parts under the same reference");
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn an_answer_to_a_short_message_that_comes_late_still_stops_the_repeat() {
    let s = stage(Script::new(), "", "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says("slow"));
    let message = alice.gets_message_unanswered().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    s.a_moment_passes().await;
    alice.answers_message(&message, CommandStatus::OK).await;
    s.a_moment_passes().await;
    s.skip(HALF_MINUTE + Duration::from_secs(5));
    s.carrier().send_mo_parts(says("next"));
    assert_eq!(alice.gets_message().await.octets, b"next");
    alice.gets_nothing().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn whoever_asks_gets_long_messages_whole_and_old_binds_never() {
    let s = stage(Script::new(), "", "inbound = \"payload\"").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says(&"Ж".repeat(200)));
    let brought = alice.gets_message().await;
    assert_eq!((brought.esm_class, brought.data_coding, brought.in_payload), (0, 8, true));
    assert_eq!(brought.octets, [0x04, 0x16].repeat(200));
    alice.unbinds().await;
    let mut old = Esme::connect(s.smpp_address()).await;
    let bound = old.tries_to_bind(BindType::Receiver, "alice", "secret12", VERSION_3_3).await;
    assert_eq!(bound, CommandStatus::OK);
    s.carrier().send_mo_parts(says(&"x".repeat(161)));
    for _ in 0..2 {
        let part = old.gets_message().await;
        assert_eq!((part.esm_class, part.in_payload), (0x40, false));
    }
    drop(old);
    s.end().await;
}

#[tokio::test]
async fn who_wants_none_is_brought_none_and_what_is_refused_stays_readable() {
    let s = stage(Script::new(), "", "inbound = \"none\"").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says("only to be polled"));
    s.alice.has_inbound(1).await;
    alice.gets_nothing().await;
    alice.unbinds().await;
    s.operator_provisions(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\ninbound = \"parts\"\n",
    )
    .await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.carrier().send_mo_parts(says("refused"));
    let message = alice.gets_message_unanswered().await;
    alice.answers_message(&message, CommandStatus::X_P_APPN).await;
    s.a_moment_passes().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    alice.gets_nothing().await;
    assert_eq!(s.alice.has_inbound(2).await, ["only to be polled", "refused"]);
    assert_eq!(s.given_up().await, ["MO the customer refused it with 0x65"]);
    drop(alice);
    s.end().await;
}
