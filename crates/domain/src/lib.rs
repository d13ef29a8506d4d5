//! Hermod's business rules: money, phone numbers, texts and their parts, message states, delivery receipts, prices,
//! routes, rates and retries. All of it is pure: nothing here does I/O, waits, reads a clock or uses floating point, so
//! every decision can be tested as a table.

#![deny(clippy::float_arithmetic, clippy::wildcard_enum_match_arm, clippy::as_conversions)]

#[macro_use]
mod named;
#[macro_use]
mod text_form;

pub mod adaptive_rate;
pub mod area;
pub mod audit;
pub mod believed_cost;
pub mod block;
pub mod carrier;
pub mod catalogue;
pub mod cost;
mod currency_codes;
pub mod customer_request;
pub mod dated;
pub mod erasure;
pub mod exchange;
pub mod expiring;
pub mod grouping;
pub mod hex;
pub mod hold;
pub mod ids;
pub mod inbound;
pub mod keyed_pace;
pub mod lifecycle;
pub mod log_throttle;
pub mod message_costs;
pub mod money;
pub mod monotonic_clock;
pub mod numbers;
pub mod octets;
pub mod operator_role;
pub mod origin;
pub mod pace;
pub mod password;
pub mod permission;
pub mod phone;
pub mod policy;
pub mod prefix;
pub mod price;
pub mod rate_profile;
pub mod receipt;
pub mod refusal;
pub mod retry;
pub mod route;
pub mod screen;
pub mod sender;
pub mod shown_number;
pub mod sign_in;
pub mod submission;
pub mod text;
pub mod time;
pub mod traffic;
pub mod webhook;
