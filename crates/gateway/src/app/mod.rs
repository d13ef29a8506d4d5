//! What the product does, one file per verb. No protocol is known here: edges parse what came in and write what goes
//! out, this decides and commits.

mod alarm_unconfirmed;
mod authenticate;
mod fail_over;
mod look_up;
pub mod operator;
mod store_errors;
mod submit_message;
mod watch_queues;

pub use alarm_unconfirmed::alarm_unconfirmed;
pub use authenticate::{Caller, Credentials, admit, authenticate};
pub use fail_over::{FAIL_OVER_AFTER, FailOver, LOOK_EVERY};
pub use look_up::{BalanceView, account_balance, inbound_since, message_status};
pub use submit_message::{Accepted, Submitted, find_replay, submit_message};
pub use watch_queues::QUEUE_AGE_MAX;
