//! Delivery receipts to binds: requested ones only, to any receiver of the connection, with retries.

use super::provision_alice_smpp;
use crate::real_time::wait_until;
use crate::scenario::{Esme, Scenario, message};
use crate::store_access::is_embedded;
use hermod_operator::author::{Acting, Author};
use hermod_operator::restore::{self, CancelRequest};
use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::{BindType, CommandStatus, SubmitSm, VERSION_3_3};
use std::time::Duration;

const HALF_MINUTE: Duration = Duration::from_secs(30);

async fn stage(script: Script) -> Scenario {
    let s = Scenario::with(script).await;
    provision_alice_smpp(&s, "").await;
    s
}

#[tokio::test]
async fn receipts_of_a_transmitter_go_to_the_receiver_of_its_connection() {
    let s = stage(Script::new()).await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let id = transmitter.submit(message("paired")).await;
    assert_eq!(receiver.take_receipt().await.get("id"), id);
    transmitter.assert_nothing_received().await;
    assert_eq!(receiver.try_submit(message("wrong way")).await, Err(CommandStatus::INVBNDSTS));
    drop((receiver, transmitter));
    s.end().await;
}

#[tokio::test]
async fn receipt_that_is_made_while_the_gateway_is_held_is_sent_after_the_release() {
    let s = Scenario::without_carrier().await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("cancelled")).await;
    alice.assert_nothing_received().await;
    s.hold().await;
    let operator = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let cancelled = restore::cancel(&operator, CancelRequest::default()).await.expect("it is held");
    assert_eq!(cancelled.cancelled, 1);
    alice.assert_nothing_received().await;
    s.release().await;
    let receipt = alice.take_receipt().await;
    assert_eq!((receipt.get("id"), receipt.get("stat")), (id.as_str(), "REJECTD"));
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn receipt_waits_for_a_receiver_bind_over_a_restart() {
    let mut s = stage(Script::new()).await;
    let mut transmitter = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    let id = transmitter.submit(message("later")).await;
    s.alice.status_of(&id).becomes("delivered").await;
    transmitter.unbind().await;
    s.restart().await;
    let mut receiver = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    assert_eq!(receiver.take_receipt().await.get("id"), id);
    receiver.unbind().await;
    s.restart().await;
    let mut again = Esme::bind(s.smpp_address(), BindType::Receiver, "alice").await;
    again.assert_nothing_received().await;
    drop(again);
    s.end().await;
}

#[tokio::test]
async fn receipt_with_a_temporary_error_is_repeated_and_a_rejected_one_is_given_up() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("again")).await;
    let first = alice.take_receipt_unanswered().await;
    alice.answer_receipt(&first, CommandStatus::X_T_APPN).await;
    alice.wait_until_read().await;
    alice.assert_nothing_received().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    let second = alice.take_receipt_unanswered().await;
    assert_eq!((second.get("id"), &second.text), (id.as_str(), &first.text));
    alice.answer_receipt(&second, CommandStatus::X_P_APPN).await;
    alice.submit(SubmitSm { registered_delivery: 0, ..message("alive") }).await;
    s.skip(HALF_MINUTE);
    alice.assert_nothing_received().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn receipt_on_a_lost_connection_is_repeated() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("cut")).await;
    alice.take_receipt_unanswered().await;
    drop(alice);
    s.wait_until("the bind has ended", || s.gateway().binds.count() == 0).await;
    s.pause_briefly().await;
    let mut back = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    assert_eq!(back.take_receipt().await.get("id"), id);
    drop(back);
    s.end().await;
}

#[tokio::test]
async fn late_deliver_sm_resp_stops_the_repeat() {
    let s = stage(Script::new()).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    alice.submit(message("slow")).await;
    let receipt = alice.take_receipt_unanswered().await;
    s.skip(HALF_MINUTE + Duration::from_secs(1));
    s.pause_briefly().await;
    alice.answer_receipt(&receipt, CommandStatus::OK).await;
    alice.wait_until_read().await;
    s.pause_briefly().await;
    s.skip(HALF_MINUTE + Duration::from_secs(5));
    alice.submit(SubmitSm { registered_delivery: 0, ..message("alive") }).await;
    alice.assert_nothing_received().await;
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn receipts_follow_registered_delivery() {
    let s = stage(Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable)).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    for registered_delivery in [0x00, 0x03] {
        let id = alice.submit(SubmitSm { registered_delivery, ..message("silent") }).await;
        s.alice.status_of(&id).becomes("undeliverable").await;
    }
    alice.assert_nothing_received().await;
    for registered_delivery in [0x01, 0x02, 0x12] {
        let id = alice.submit(SubmitSm { registered_delivery, ..message("told") }).await;
        let receipt = alice.take_receipt().await;
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
async fn intermediate_notification_is_sent_only_if_requested() {
    let s = stage(Script::new().no_receipts().enroute_after(Duration::ZERO)).await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(SubmitSm { registered_delivery: 0x11, ..message("step by step") }).await;
    let notice = alice.take_receipt().await;
    assert_eq!((notice.esm_class, notice.get("id")), (0x20, id.as_str()));
    assert!(["ENROUTE", "ACCEPTD"].contains(&notice.get("stat")), "{}", notice.text);
    s.deliver_last_message();
    let end = alice.take_receipt().await;
    assert_eq!((end.esm_class, end.get("stat"), end.state_tlv), (0x04, "DELIVRD", Some(2)));
    let id = alice.submit(message("only the end")).await;
    s.alice.status_of(&id).becomes("enroute").await;
    s.deliver_last_message();
    let end = alice.take_receipt().await;
    assert_eq!((end.get("id"), end.get("stat")), (id.as_str(), "DELIVRD"));
    drop(alice);
    s.end().await;
}

#[tokio::test]
async fn bind_of_version_3_3_gets_8_digit_ids_and_receipts_without_tlvs() {
    let s = stage(Script::new()).await;
    let mut old = Esme::connect(s.smpp_address()).await;
    assert_eq!(
        old.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_3).await,
        CommandStatus::OK
    );
    let alias = old.submit(message("the old way")).await;
    assert!(alias.len() == 8 && alias.bytes().all(|it| it.is_ascii_hexdigit()), "{alias}");
    let receipt = old.take_receipt().await;
    assert_eq!((receipt.get("id"), receipt.has_tlvs), (alias.as_str(), false));
    s.alice.status_of(&alias).is("delivered").await;
    let next = old.submit(message("another")).await;
    assert_ne!(next, alias);
    old.take_receipt().await;
    drop(old);
    s.end().await;
}

#[tokio::test]
async fn bind_of_version_3_3_is_told_to_wait_while_no_short_id_is_free() {
    if !is_embedded() {
        println!("only for the embedded store");
        return;
    }
    let s = stage(Script::new()).await;
    let mut old = Esme::connect(s.smpp_address()).await;
    let bound = old.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_3).await;
    assert_eq!(bound, CommandStatus::OK);
    old.submit(message("the first short id")).await;
    old.take_receipt().await;
    let database = s.database();
    let occupy = "WITH RECURSIVE next (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM next WHERE n < 64)
        INSERT INTO alias (account, alias, message) SELECT account, alias + n, message FROM alias, next";
    wait_until("the first message is in the database", || database.execute(occupy, []).unwrap() == 64);
    assert_eq!(old.try_submit(message("refused")).await, Err(CommandStatus(0x14)));
    s.alice.assert_balance("99.95").await;
    let free = "DELETE FROM alias WHERE alias > (SELECT min(alias) FROM alias)";
    assert_eq!(database.execute(free, []).unwrap(), 64);
    old.submit(message("accepted")).await;
    old.take_receipt().await;
    s.alice.assert_balance("99.9").await;
    drop(old);
    s.end().await;
}
