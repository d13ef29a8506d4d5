//! SMPP sessions: bind, inactivity, unbind.

use super::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandId, CommandStatus, Pdu, VERSION_3_4};
use std::time::Duration;

#[tokio::test]
async fn unknown_system_id_and_wrong_password_get_the_same_status() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    for (system_id, password) in [("alice", "wrong"), ("unknown", "secret12")] {
        let mut esme = Esme::connect(s.smpp_address()).await;
        let status = esme.try_bind(BindType::Transceiver, system_id, password, VERSION_3_4).await;
        assert_eq!(status, CommandStatus::INVPASWD, "{system_id}");
        assert!(esme.read_pdu().await.is_none(), "the connection is closed");
    }
    let esme = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    esme.unbind().await;
    s.end().await;
}

#[tokio::test]
async fn changed_password_keeps_open_binds() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.provision(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\npassword = \"another1\"\n",
    )
    .await;
    alice.submit(message("still bound")).await;
    alice.take_receipt().await;
    let mut old = Esme::connect(s.smpp_address()).await;
    let status = old.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::INVPASWD);
    let mut new = Esme::connect(s.smpp_address()).await;
    let status = new.try_bind(BindType::Transceiver, "alice", "another1", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::OK);
    drop((alice, new, old));
    s.end().await;
}

#[tokio::test]
async fn inactive_bind_is_unbound_after_a_minute_and_one_with_enquire_link_is_not() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut silent = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let mut alive = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    s.skip(Duration::from_secs(30));
    assert_eq!(alive.request(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    s.skip(Duration::from_secs(31));
    silent.wait_for_unbind().await;
    assert_eq!(alive.request(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    drop((alive, silent));
    s.end().await;
}

#[tokio::test]
async fn stopping_gateway_unbinds_and_delivers_receipts_after_the_restart() {
    let mut s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transmitter, "alice").await;
    alice.submit(message("before")).await;
    let restarting = s.restart();
    let goodbye = async {
        alice.wait_for_unbind().await;
        while alice.read_pdu().await.is_some() {}
    };
    tokio::join!(restarting, goodbye);
    let mut back = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    assert_eq!(back.take_receipt().await.get("stat"), "DELIVRD");
    drop((alice, back));
    s.end().await;
}

#[tokio::test]
async fn bind_over_max_binds_is_accepted_once_a_dead_bind_is_closed() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "max_binds = 1\n").await;
    let first = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let second = Esme::connect(s.smpp_address()).await;
    // The gateway sends enquire_link to the first bind, which does not answer within five seconds.
    let second_bind = std::cell::Cell::new(Some(second));
    let (status, second) = s
        .advance_until(Duration::from_secs(1), || {
            let mut second = second_bind.take().expect("asked once");
            async move {
                let status = second.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
                (status, second)
            }
        })
        .await;
    assert_eq!(status, CommandStatus::OK, "the dead bind was closed");
    drop(first);
    second.unbind().await;
    let third = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    third.unbind().await;
    s.end().await;
}

#[tokio::test]
async fn request_in_a_wrong_bind_state_is_rejected_and_the_session_continues() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut esme = Esme::connect(s.smpp_address()).await;
    assert_eq!(esme.try_submit(message("too early")).await, Err(CommandStatus::INVBNDSTS));
    assert_eq!(esme.request(&Pdu::EnquireLink).await.header.status, CommandStatus::OK);
    let status = esme.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::OK);
    let status = esme.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::ALYBND);
    let nack = esme.request(&Pdu::Unknown(CommandId(0x111), hermod_smpp::Hidden(b""))).await;
    assert_eq!((nack.header.command, nack.header.status), (CommandId::GENERIC_NACK, CommandStatus::INVCMDID));
    esme.submit(message("at last")).await;
    esme.take_receipt().await;
    drop(esme);
    s.end().await;
}

#[tokio::test]
async fn closed_connection_entry_unbinds_its_binds() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    provision_alice_smpp(&s, "closed = true\n").await;
    alice.wait_for_unbind().await;
    let mut again = Esme::connect(s.smpp_address()).await;
    let status = again.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::BINDFAIL);
    drop((again, alice));
    s.end().await;
}
