//! Changes of a connection with open binds: a bind that is no longer allowed is unbound at once.

use super::provision_alice_smpp;
use crate::scenario::{Esme, Scenario, message};
use hermod_simulator::carrier::Script;
use hermod_smpp::{BindType, CommandStatus, VERSION_3_4};

#[tokio::test]
async fn bind_that_a_change_no_longer_allows_is_unbound() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    for (change, back) in [
        ("allow = [\"198.51.100.0/24\"]\n", "allow = []\n"),
        ("tls_only = true\n", "tls_only = false\n"),
        ("bind_types = [\"receiver\"]\n", "bind_types = [\"transmitter\", \"receiver\", \"transceiver\"]\n"),
        ("closed = true\n", "closed = false\n"),
    ] {
        let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
        provision_alice_smpp(&s, change).await;
        alice.wait_for_unbind().await;
        let mut again = Esme::connect(s.smpp_address()).await;
        let status = again.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
        assert_eq!(status, CommandStatus::BINDFAIL, "{change}");
        drop((alice, again));
        provision_alice_smpp(&s, back).await;
    }
    s.end().await;
}

#[tokio::test]
async fn bind_under_an_old_system_id_is_unbound() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut alice = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let renamed = "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice2\"\n";
    s.provision(renamed).await;
    alice.wait_for_unbind().await;
    let new = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice2").await;
    drop((alice, new));
    s.end().await;
}

#[tokio::test]
async fn newest_bind_over_a_reduced_max_binds_is_unbound_and_other_changes_keep_binds() {
    let s = Scenario::with(Script::new()).await;
    provision_alice_smpp(&s, "").await;
    let mut first = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    let mut second = Esme::bind(s.smpp_address(), BindType::Transceiver, "alice").await;
    provision_alice_smpp(&s, "max_binds = 1\nallow = [\"127.0.0.0/8\"]\nextended_codes = true\n").await;
    second.wait_for_unbind().await;
    first.submit(message("still bound")).await;
    first.take_receipt().await;
    drop((first, second));
    s.end().await;
}
