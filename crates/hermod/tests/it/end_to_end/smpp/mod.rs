//! SMPP customers end to end: sessions, submissions, receipts, queries.

mod connection_changes;
mod query_and_cancel;
mod receipts;
mod screening;
mod sessions;
mod submit;
mod webhook_events;

use crate::scenario::Scenario;
use hermod_smpp::{Address, Hidden, SubmitSm};

/// Returns a short message from `Hermod` that requests final receipts.
pub(super) fn message(text: &str) -> SubmitSm<'_> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    }
}

/// Provisions an SMPP connection of alice's with these lines.
pub(super) async fn provision_alice_smpp(s: &Scenario, settings: &str) {
    s.provision(&format!(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{settings}"
    ))
    .await;
}
