//! What a customer is told when the store could not do its part. All of these mean: nothing was stored or charged.

use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_store::StoreError;

/// Seconds after which it is worth trying again.
const RETRY_SOON_S: u32 = 1;
const RETRY_LATER_S: u32 = 10;

pub(crate) fn refusal_of(fault: &StoreError) -> Refusal {
    let (cause, retry_after_s) = match fault {
        StoreError::QueueFull(_) | StoreError::ReadTooLong => (Unavailable::QueueFull, RETRY_SOON_S),
        StoreError::DiskLow => (Unavailable::DiskLow, RETRY_LATER_S),
        StoreError::Closed => (Unavailable::Draining, RETRY_LATER_S),
        // Whatever else it was, it is ours to mend, and the operation was certainly not done.
        _ => {
            tracing::error!(%fault, "The store failed an operation");
            return Refusal::SubmitFailed;
        }
    };
    Refusal::GatewayUnavailable { cause, retry_after_s }
}
