//! The pages, one file each: a struct of plain data and its template.

pub mod access;
pub mod audit;
pub mod billing;
pub mod compose;
pub mod confirm;
pub mod destinations;
pub mod home;
pub mod inbox;
pub mod keys;
pub mod limits;
pub mod live;
pub mod message;
pub mod messages;
pub mod opt_outs;
pub mod profile;
pub mod quickstart;
pub mod request_log;
pub mod requests;
pub mod senders;
pub mod smpp;
pub mod team;
pub mod webhooks;
