//! The gateway's use cases, one file each. No protocol here: the edges parse requests and write responses, `app`
//! decides and commits.

mod authenticate;
mod fail_over;
pub mod inbox;
mod look_up;
mod low_balance;
pub mod operator;
mod preview_message;
mod queue_alarms;
mod request_log;
mod store_errors;
mod submit_message;
pub mod users;
mod webhook_body;

pub use authenticate::{Caller, Credentials, admit, authenticate, rejecting_list};
pub use fail_over::{FAIL_OVER_AFTER, FailOver, LOOK_EVERY};
pub use look_up::{AccountBalance, account_balance, inbound_since, message_status};
pub use low_balance::{LowBalance, low_balance, mail_low_balance};
pub use preview_message::{MessagePreview, preview_message};
pub use queue_alarms::{QUEUE_AGE_MAX, alarm_carrier_counts};
pub use request_log::{AnsweredRequest, CallerName, Rejection, caller_of, note_page_send, note_request};
pub use submit_message::{Accepted, Submitted, find_replay, submit_message};
pub use webhook_body::webhook_body;
