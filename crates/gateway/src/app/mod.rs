//! The gateway's use cases, one file each. No protocol here: the edges parse requests and write responses, `app`
//! decides and commits.

mod account_metrics;
mod alarm_notification;
mod authenticate;
mod credit_alarms;
mod delivery_rates;
mod fail_over;
mod look_up;
mod loss_alarms;
mod low_balance;
mod notification_delivery;
mod notification_plan;
mod preview_message;
mod queue_alarms;
mod request_log;
mod submit_message;
mod webhook_body;

pub use account_metrics::LastAccountMetrics;
pub use alarm_notification::AlarmNotification;
pub use authenticate::{
    Caller, Credentials, SignInFault, admit, authenticate, explain_rejection, rejecting_list,
};
pub use credit_alarms::{check_low_credit, check_rejections_for_credit};
pub use delivery_rates::read_delivery_rates;
pub use fail_over::{FAIL_OVER_AFTER, FailOver, LOOK_EVERY, hold, route_again, target};
pub use look_up::{AccountBalance, account_balance, inbound_since, message_status};
pub use loss_alarms::check_losses;
pub use low_balance::{LowBalance, low_balance, mail_low_balance};
pub use notification_delivery::{NOTIFICATIONS_WAITING_MAX, count_notification, serve_notifications};
pub use notification_plan::{NotificationPlan, PlannedNotification};
pub use preview_message::{MessagePreview, preview_message};
pub use queue_alarms::{QUEUE_AGE_MAX, alarm_carrier_counts};
pub use request_log::{
    AnsweredRequest, CallerName, Rejection, caller_of, note_page_send, note_request, printable,
    recipient_digest,
};
pub use submit_message::{Accepted, Submitted, find_replay, key_digest, submit_message};
pub use webhook_body::webhook_body;

use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_store::StoreError;

/// Retry-After in seconds.
const RETRY_SOON_S: u32 = 1;
const RETRY_LATER_S: u32 = 10;

/// Returns the refusal of a store error for the customer. Each means that nothing was stored or charged.
fn refusal_of(fault: &StoreError) -> Refusal {
    let (cause, retry_after_s) = match fault {
        StoreError::QueueFull(_) | StoreError::ReadTooLong => (Unavailable::QueueFull, RETRY_SOON_S),
        StoreError::DiskLow => (Unavailable::DiskLow, RETRY_LATER_S),
        StoreError::Closed => (Unavailable::Draining, RETRY_LATER_S),
        StoreError::EntryRemoved(_) => (Unavailable::SetupChanged, RETRY_SOON_S),
        // Any other error is internal; the operation was not done.
        _ => {
            tracing::error!(%fault, "Store operation failed");
            return Refusal::SubmitFailed;
        }
    };
    Refusal::GatewayUnavailable { cause, retry_after_s }
}
