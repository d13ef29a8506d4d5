//! What stands in front of the SMPP server, on real sockets: whatever a stranger sends costs its documented answer and a
//! closed connection, and never anybody else's bind.

#![expect(clippy::unwrap_used, reason = "a test that meets an error should stop right there")]

mod guessing;
mod hostile;
mod house;
