//! Links to carriers. Each carrier has as many as its profile says; a task of each dials, binds, sends what the store
//! hands out and reports what the carrier says, and comes back after every loss, ever more patiently. The protocol is
//! decided by the pure session of the SMPP crate; what answers mean, how fast to go, when to come back and how a carrier
//! is doing are decided by the pure modules here.

mod backoff;
mod connect;
mod deliver_sm;
mod flow;
mod handset;
mod health;
mod link;
mod link_group;
mod monitor;
mod probe;
mod reconnect;
mod shaper;
mod submit;
mod submit_responses;
mod supervisor;
mod throttled_recipients;

#[cfg(test)]
mod link_group_tests;
#[cfg(test)]
mod supervisor_tests;

pub use probe::serve_probes;
pub use supervisor::supervise;
