//! What a customer is told when the store could not do its part. All of these mean: nothing was stored or charged.

use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_store::StoreFault;

/// Seconds after which it is worth trying again.
const RETRY_SOON_S: u32 = 1;
const RETRY_LATER_S: u32 = 10;

pub(crate) fn refusal_of(fault: &StoreFault) -> Refusal {
    let (cause, retry_after_s) = match fault {
        StoreFault::QueueFull(_) | StoreFault::ReadTooLong => (Unavailable::QueueFull, RETRY_SOON_S),
        StoreFault::DiskLow => (Unavailable::DiskLow, RETRY_LATER_S),
        StoreFault::Closed => (Unavailable::Draining, RETRY_LATER_S),
        // Whatever else it was, it is ours to mend, and the operation was certainly not done.
        _ => {
            tracing::error!(%fault, "The store failed an operation");
            return Refusal::SubmitFailed;
        }
    };
    Refusal::GatewayUnavailable { cause, retry_after_s }
}
