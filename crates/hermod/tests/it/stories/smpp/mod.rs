//! Stories of customers who bind: what they submit arrives, what became of it comes back, and nothing is lost between.

mod asking;
mod changes;
mod receipts;
mod screening;
mod sending;
mod sessions;
mod webhook;

use crate::scenario::Scenario;
use hermod_smpp::{Address, Hidden, SubmitSm};

/// A short message from `Hermod` that wants every final receipt.
pub(super) fn message(text: &str) -> SubmitSm<'_> {
    SubmitSm {
        source: Address::alphanumeric(b"Hermod"),
        destination: Address::international(b"4915112345678"),
        registered_delivery: 1,
        short_message: Hidden(text.as_bytes()),
        ..SubmitSm::default()
    }
}

/// Gives alice a connection to bind to, with these lines.
pub(super) async fn alice_binds_with(s: &Scenario, settings: &str) {
    s.operator_provisions(&format!(
        "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\nsystem_id = \"alice\"\n\
         password = \"secret12\"\n{settings}"
    ))
    .await;
}
