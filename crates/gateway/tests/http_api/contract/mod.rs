//! The contract with customers, row by row: every error, every limit, and every decision where the contract is silent has
//! a test of its name, against a whole gateway that a provision file has set up.

mod authentication;
mod balance;
mod errors;
mod idempotency;
mod limits;
mod sending;
mod service;
