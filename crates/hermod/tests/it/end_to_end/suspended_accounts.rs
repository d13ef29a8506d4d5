//! Suspended accounts: nothing is sent or charged, and reading, receipts and live binds go on.

use super::smpp::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus, SubmitSm, VERSION_3_4};

/// Provisions alice's account with this reason of a suspension. Without a reason it is resumed.
async fn suspend_alice(s: &Scenario, reason: &str) {
    s.change(&format!("[[account]]\nname = \"alice\"\nsuspended = \"{reason}\"\n")).await;
}

#[tokio::test]
async fn suspended_account_cannot_send_but_can_read_until_it_is_resumed() {
    let s = Scenario::with(Script::new()).await;
    let before = s.alice.send("+4915112345678", "before").await.accepted();
    s.alice.status_of(&before).becomes("delivered").await;
    suspend_alice(&s, "unpaid invoice").await;
    let refused = s.alice.send("+4915112345678", "refused").await;
    assert_eq!((refused.status, refused.headers["x-error-code"].as_str()), (403, "ACCOUNT_SUSPENDED"));
    assert!(!refused.body.to_string().contains("unpaid invoice"), "{}", refused.body);
    s.alice.assert_balance("99.95").await;
    s.alice.status_of(&before).is("delivered").await;
    assert!(s.alice.read_inbound(0).await.is_empty());
    let other = s.bob.send("+4915112345679", "of bob").await.accepted();
    s.bob.status_of(&other).becomes("delivered").await;
    suspend_alice(&s, "").await;
    let after = s.alice.send("+4915112345678", "after").await.accepted();
    s.alice.status_of(&after).becomes("delivered").await;
    s.alice.assert_balance("99.9").await;
    assert!(!s.carrier_texts().contains(&"refused".to_owned()), "{:?}", s.carrier_texts());
    s.end().await;
}

#[tokio::test]
async fn live_bind_of_a_suspended_account_receives_but_its_submit_gets_0x45_and_a_new_bind_0x0d() {
    let s = Scenario::with(Script::new().no_receipts()).await;
    provision_alice_smpp(&s, "extended_codes = true\n").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let id = alice.submit(message("before")).await;
    s.alice.status_of(&id).becomes("submitted").await;
    suspend_alice(&s, "unpaid invoice").await;
    assert_eq!(alice.try_submit(message("refused")).await, Err(CommandStatus(0x45)));
    s.alice.assert_balance("99.95").await;
    s.deliver_last_message();
    assert_eq!(alice.take_receipt().await.get("id"), id);
    let mut other = Esme::connect(s.smpp_address()).await;
    let status = other.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(status, CommandStatus::BINDFAIL);
    drop(other);
    suspend_alice(&s, "").await;
    let id = alice.submit(SubmitSm { registered_delivery: 0, ..message("after") }).await;
    s.alice.status_of(&id).becomes("submitted").await;
    s.deliver_last_message();
    s.alice.status_of(&id).becomes("delivered").await;
    let other = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    drop((alice, other));
    s.end().await;
}
