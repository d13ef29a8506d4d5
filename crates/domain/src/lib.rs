//! What Hermod decides. Money, phone numbers, text and its parts, the life of a message, what a receipt means,
//! prices, routes, rates and retries: all of it pure. Nothing here does I/O, waits, reads a clock or uses a
//! floating point number, so every decision can be tested as a table.

#![deny(clippy::float_arithmetic, clippy::wildcard_enum_match_arm, clippy::as_conversions)]

pub mod adaptive_rate;
pub mod area;
pub mod carrier;
pub mod catalogue;
pub mod expiring;
pub mod ids;
pub mod inbound;
pub mod keyed_pace;
pub mod lifecycle;
pub mod money;
pub mod monotonic_clock;
pub mod numbers;
pub mod origin;
pub mod pace;
pub mod phone;
pub mod policy;
pub mod prefix;
pub mod price;
pub mod receipt;
pub mod refusal;
pub mod repeats;
pub mod retry;
pub mod route;
pub mod screen;
pub mod sender;
pub mod sign_in;
pub mod submission;
pub mod text;
pub mod time;
pub mod traffic;
pub mod webhook;
