//! The customer contract: every error, every limit, and every decision where the contract is silent has
//! a test, against a whole gateway set up by a provision file.

mod authentication;
mod balance;
mod errors;
mod fixture;
mod idempotency;
mod limits;
mod sending;
