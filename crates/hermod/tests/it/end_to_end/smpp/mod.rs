//! SMPP customers end to end: sessions, submissions, receipts, queries.

mod connection_changes;
mod query_and_cancel;
mod receipts;
mod screening;
mod sessions;
mod submit;
mod webhook_events;

use crate::scenario::Scenario;

/// Provisions an SMPP connection of alice's with these lines.
pub(super) async fn provision_alice_smpp(s: &Scenario, settings: &str) {
    s.provision(&format!(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{settings}"
    ))
    .await;
}
