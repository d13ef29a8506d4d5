//! How sessions begin, wait and end.

use super::{alice_binds_with, message};
use crate::scenario::{Esme, Scenario};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandId, CommandStatus, Pdu, VERSION_3_4};
use std::time::Duration;

#[tokio::test]
async fn wrong_credentials_are_told_alike_and_right_ones_are_let_in() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    for (system_id, password) in [("alice", "wrong"), ("nobody", "secret12")] {
        let mut esme = Esme::connect(s.smpp_address()).await;
        let status = esme.tries_to_bind(BindType::Transceiver, system_id, password, VERSION_3_4).await;
        assert_eq!(status, CommandStatus::INVPASWD, "{system_id}");
        assert!(esme.reads().await.is_none(), "it is closed");
    }
    let esme = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    esme.unbinds().await;
    s.end().await;
}

#[tokio::test]
async fn a_new_password_does_not_end_live_binds() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.operator_provisions(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\npassword = \"another1\"\n",
    )
    .await;
    alice.submits(message("still bound")).await;
    alice.gets_receipt().await;
    let mut old = Esme::connect(s.smpp_address()).await;
    let status = old.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::INVPASWD);
    let mut new = Esme::connect(s.smpp_address()).await;
    let status = new.tries_to_bind(BindType::Transceiver, "alice", "another1", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::OK);
    drop((alice, new, old));
    s.end().await;
}

#[tokio::test]
async fn a_silent_client_is_unbound_after_a_minute_and_one_that_enquires_is_not() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut silent = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let mut alive = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.skip(Duration::from_secs(30));
    assert_eq!(alive.asks(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    s.skip(Duration::from_secs(31));
    silent.is_unbound().await;
    assert_eq!(alive.asks(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    drop((alive, silent));
    s.end().await;
}

#[tokio::test]
async fn a_stopping_gateway_says_goodbye_and_answers_what_it_has_taken() {
    let mut s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    alice.submits(message("before")).await;
    let restarting = s.restart();
    let goodbye = async {
        alice.is_unbound().await;
        while alice.reads().await.is_some() {}
    };
    tokio::join!(restarting, goodbye);
    let mut back = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    assert_eq!(back.gets_receipt().await.get("stat"), "DELIVRD");
    drop((alice, back));
    s.end().await;
}

#[tokio::test]
async fn more_binds_than_allowed_are_refused_for_now_and_a_place_is_free_at_unbind() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "max_binds = 1\n").await;
    let first = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let second = Esme::connect(s.smpp_address()).await;
    // The first is probed, and has five seconds to show that it is alive; it does not answer.
    let second_bind = std::cell::Cell::new(Some(second));
    let (status, second) = s
        .stepping(Duration::from_secs(1), || {
            let mut second = second_bind.take().expect("asked once");
            async move {
                let status =
                    second.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
                (status, second)
            }
        })
        .await;
    assert_eq!(status, CommandStatus::OK, "the dead twin made room");
    drop(first);
    second.unbinds().await;
    let third = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    third.unbinds().await;
    s.end().await;
}

#[tokio::test]
async fn requests_in_a_wrong_state_are_told_so_and_cost_nothing_else() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut esme = Esme::connect(s.smpp_address()).await;
    assert_eq!(esme.tries_to_submit(message("too early")).await, Err(CommandStatus::INVBNDSTS));
    assert_eq!(esme.asks(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    let status = esme.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::OK);
    let status = esme.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::ALYBND);
    let nack = esme.asks(&Pdu::Unknown(CommandId(0x111), hermod_smpp::Hidden(b""))).await;
    assert_eq!((nack.header.command, nack.header.status), (CommandId::GENERIC_NACK, CommandStatus::INVCMDID));
    esme.submits(message("at last")).await;
    esme.gets_receipt().await;
    drop(esme);
    s.end().await;
}

#[tokio::test]
async fn closing_a_connection_ends_its_binds() {
    let s = Scenario::with(Script::new()).await;
    alice_binds_with(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    alice_binds_with(&s, "closed = true\n").await;
    alice.is_unbound().await;
    let mut again = Esme::connect(s.smpp_address()).await;
    let status = again.tries_to_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::BINDFAIL);
    drop((again, alice));
    s.end().await;
}
