//! Messages for a record that is filled without a message store: for benchmarks and tests.

use crate::record::keys::SearchKey;
use crate::record::pending::{NewMessage, PendingMessage, encode};
use crate::record::{HistoryStep, RecordedMessage, StepNote};
use hermod_domain::ids::CarrierId;
use hermod_engine::steps::StepKind;

/// A message with everything that happened to it.
#[derive(Clone, Debug)]
pub struct FilledMessage {
    pub message: RecordedMessage,
    /// The carrier that had it first, if it moved to another one.
    pub first_carrier: Option<CarrierId>,
    /// The id of the HTTP request.
    pub request: Option<Box<str>>,
    /// The digest of the idempotency key.
    pub key: Option<[u8; 16]>,
    /// In the order in which they happened.
    pub steps: Vec<HistoryStep>,
}

impl FilledMessage {
    /// Returns what a flush writes.
    pub(crate) fn pending(self) -> PendingMessage {
        let FilledMessage { message, first_carrier, request, key, steps } = self;
        let mut pending = PendingMessage::new(message.id);
        for step in &steps {
            pending.last_ms = step.at_ms;
            encode(step, &mut pending.steps);
            match &step.what {
                StepNote::Step(StepKind::CarrierAccepted { remote, .. }) => {
                    pending.keys.push(SearchKey::of_carrier_id(remote));
                }
                StepNote::Step(StepKind::WebhookAttempt { event, .. }) => {
                    pending.keys.push(SearchKey::of_event(*event));
                }
                _ => {}
            }
        }
        pending.new = Some(NewMessage {
            first_carrier: first_carrier.unwrap_or(message.carrier),
            charged_parts: message.parts,
            balance: None,
            request,
            route: None,
            key,
            message,
        });
        pending
    }
}
