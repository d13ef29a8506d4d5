//! What callers ask of the store, one file per subject: a command for the writer, a read beside it, or both.

mod aliases;
mod catalogue;
mod delivery_figures;
mod inbound;
mod messages;
mod money;
mod purging;
mod receipts;
mod reports;
mod reviews;
mod set_aside;
