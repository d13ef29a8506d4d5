//! The SMPP listener on real sockets: invalid input of unknown clients gets its documented response and a
//! closed connection, and never affects other binds.

#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod fixture;
mod invalid_clients;
mod password_guessing;
mod request_log;
