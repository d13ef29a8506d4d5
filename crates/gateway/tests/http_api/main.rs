//! The HTTP API over real sockets, with a real store in a temporary folder and a clock that only the tests move. What a
//! carrier would do is not needed here: a message is accepted once it is on disk.

mod client;
mod connections;
mod credentials;
mod hostile;
mod idempotency;
mod look_up;
mod operations;
mod rate;
mod send;
mod service;
