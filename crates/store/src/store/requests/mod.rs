//! The store's operations, one file per subject. Each is a command for the writer, a read beside it, or both.

mod customer_requests;
mod erasing;
mod inbound;
mod messages;
mod money;
mod opt_outs;
mod receipts;
mod reports;
mod reviews;
mod setup;
mod user_tokens;
