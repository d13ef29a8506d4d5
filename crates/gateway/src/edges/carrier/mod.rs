//! Links to carriers (SMSCs). Each carrier has as many links as its profile says. A task per link connects, binds,
//! sends the parts that the store hands out, reports responses, receipts and MO messages, and reconnects after every
//! loss. The SMPP crate's pure session decides the protocol; pure modules here decide what responses mean
//! (`submit_resp`), how fast to send (`flow`), when to reconnect (`backoff`) and a carrier's health (`health`).

mod backoff;
mod connect;
mod deliver_sm;
mod flow;
mod health;
mod link;
mod link_group;
mod link_slot;
mod mo;
mod monitor;
mod probe;
mod receipt_ids;
mod reconnect;
mod shaper;
mod submit_resp;
mod submit_sm;
mod supervisor;
mod throttled_recipients;

#[cfg(test)]
mod link_group_tests;
#[cfg(test)]
mod supervisor_tests;

pub use probe::serve_probes;
pub use supervisor::supervise;
