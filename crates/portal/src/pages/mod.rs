//! The pages, one file for each subject: the struct of a page with its template, and the handlers that fill it.

pub mod access;
pub mod allow_list;
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
pub(crate) mod start;
pub mod team;
pub mod webhooks;
