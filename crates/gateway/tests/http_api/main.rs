//! The HTTP API over real sockets, with a real store in a temporary folder and a clock that only the tests move. What a
//! carrier would do is not needed here: a message is accepted once it is on disk.

#![expect(clippy::unwrap_used, reason = "a test that meets an error should stop right there")]

mod client;
mod connections;
mod contract;
mod credentials;
mod customers;
mod documented;
mod hostile_bodies;
mod hostile_heads;
mod idempotency;
mod inbound;
mod look_up;
mod mutants;
mod operations;
mod peers;
mod rate;
mod send;
mod service;
mod timing;
mod tls;
