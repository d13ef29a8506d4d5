//! How receipts find their way back: to any bind that takes them, in time or much later, once they are wanted.

use super::{alice_binds_with, message};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::{BindType, CommandStatus, SubmitSm, VERSION_3_3};
use std::time::Duration;

const HALF_MINUTE: Duration = Duration::from_secs(30);

async fn stage(script: Script) -> Scenario {
    let s = Scenario::with(script).await;
    alice_binds_with(&s, "").await;
    s
}

#[tokio::test]
async fn receipts_of_a_transmitter_go_to_the_receiver_beside_it() {
    let s = stage(Script::new()).await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let id = transmitter.submits(message("paired")).await;
    assert_eq!(receiver.gets_receipt().await.get("id"), id);
    transmitter.gets_nothing().await;
    assert_eq!(receiver.tries_to_submit(message("wrong way")).await, Err(CommandStatus::INVBNDSTS));
    drop((receiver, transmitter));
    s.end().await;
}

#[tokio::test]
async fn a_receipt_waits_until_somebody_is_bound_even_over_a_restart() {
    let mut s = stage(Script::new()).await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let id = transmitter.submits(message("later")).await;
    s.alice.sees(&id).becomes("delivered").await;
    transmitter.unbinds().await;
    s.restart().await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    assert_eq!(receiver.gets_receipt().await.get("id"), id);
    receiver.unbinds().await;
    s.restart().await;
    let mut again = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    again.gets_nothing().await;
    drop(again);
    s.end().await;
}

#[tokio::test]
async fn a_receipt_the_client_cannot_take_now_is_brought_again_and_a_refused_one_is_given_up() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("again")).await;
    let first = alice.gets_receipt_unanswered().await;
    alice.answers(&first, CommandStatus::X_T_APPN).await;
    alice.gets_nothing().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    let second = alice.gets_receipt_unanswered().await;
    assert_eq!((second.get("id"), &second.text), (id.as_str(), &first.text));
    alice.answers(&second, CommandStatus::X_P_APPN).await;
    alice.submits(SubmitSm { registered_delivery: 0, ..message("alive") }).await;
    s.skip(HALF_MINUTE);
    alice.gets_nothing().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn a_receipt_on_a_lost_line_is_brought_again() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(message("cut")).await;
    alice.gets_receipt_unanswered().await;
    drop(alice);
    s.a_moment_passes().await;
    let mut back = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    assert_eq!(back.gets_receipt().await.get("id"), id);
    drop(back);
    s.end().await;
}

#[tokio::test]
async fn an_answer_that_comes_late_still_stops_the_repeat() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    alice.submits(message("slow")).await;
    let receipt = alice.gets_receipt_unanswered().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    s.a_moment_passes().await;
    alice.answers(&receipt, CommandStatus::OK).await;
    s.a_moment_passes().await;
    s.skip(HALF_MINUTE + Duration::from_secs(5));
    alice.submits(SubmitSm { registered_delivery: 0, ..message("alive") }).await;
    alice.gets_nothing().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn only_what_was_asked_for_is_reported() {
    let s = stage(Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable)).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    for registered_delivery in [0x00, 0x03] {
        let id = alice.submits(SubmitSm { registered_delivery, ..message("silent") }).await;
        s.alice.sees(&id).becomes("undeliverable").await;
    }
    alice.gets_nothing().await;
    for registered_delivery in [0x01, 0x02, 0x12] {
        let id = alice.submits(SubmitSm { registered_delivery, ..message("told") }).await;
        let receipt = alice.gets_receipt().await;
        assert_eq!(
            (receipt.get("id"), receipt.get("stat"), receipt.state_tlv),
            (id.as_str(), "UNDELIV", Some(5))
        );
        assert!(receipt.text.contains("sub:001 dlvrd:000"), "{}", receipt.text);
    }
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn an_intermediate_notice_comes_before_the_end_and_only_when_wanted() {
    let script = Script::new()
        .enroute_after(Duration::ZERO)
        .receipt_after(Duration::from_millis(300), Outcome::Delivered);
    let s = stage(script).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submits(SubmitSm { registered_delivery: 0x11, ..message("step by step") }).await;
    let notice = alice.gets_receipt().await;
    assert_eq!((notice.esm_class, notice.get("id")), (0x20, id.as_str()));
    assert!(["ENROUTE", "ACCEPTD"].contains(&notice.get("stat")), "{}", notice.text);
    let end = alice.gets_receipt().await;
    assert_eq!((end.esm_class, end.get("stat"), end.state_tlv), (0x04, "DELIVRD", Some(2)));
    let id = alice.submits(message("only the end")).await;
    let end = alice.gets_receipt().await;
    assert_eq!((end.get("id"), end.get("stat")), (id.as_str(), "DELIVRD"));
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn a_3_3_bind_knows_messages_by_eight_digits_and_gets_no_parameters() {
    let s = stage(Script::new()).await;
    let mut old = Esme::connect(s.smpp_address()).await;
    assert_eq!(
        old.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_3).await,
        CommandStatus::OK
    );
    let alias = old.submits(message("the old way")).await;
    assert!(alias.len() == 8 && alias.bytes().all(|it| it.is_ascii_hexdigit()), "{alias}");
    let receipt = old.gets_receipt().await;
    assert_eq!((receipt.get("id"), receipt.has_tlvs), (alias.as_str(), false));
    s.alice.sees(&alias).is("delivered").await;
    let next = old.submits(message("another")).await;
    assert_ne!(next, alias);
    old.gets_receipt().await;
    drop(old);
    s.end().await;
}
