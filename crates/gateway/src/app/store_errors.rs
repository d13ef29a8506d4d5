//! Turns a store error into the refusal for the customer. Each means that nothing was stored or charged.

use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_store::StoreError;

/// Retry-After in seconds.
const RETRY_SOON_S: u32 = 1;
const RETRY_LATER_S: u32 = 10;

pub(crate) fn refusal_of(fault: &StoreError) -> Refusal {
    let (cause, retry_after_s) = match fault {
        StoreError::QueueFull(_) | StoreError::ReadTooLong => (Unavailable::QueueFull, RETRY_SOON_S),
        StoreError::DiskLow => (Unavailable::DiskLow, RETRY_LATER_S),
        StoreError::Closed => (Unavailable::Draining, RETRY_LATER_S),
        // Any other error is internal; the operation was not done.
        _ => {
            tracing::error!(%fault, "Store operation failed");
            return Refusal::SubmitFailed;
        }
    };
    Refusal::GatewayUnavailable { cause, retry_after_s }
}
