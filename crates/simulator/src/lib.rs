//! Simulators for tests of the gateway: a scriptable carrier that records all traffic, load generators for HTTP and SMPP,
//! a reference endpoint that stores nothing for each, and a webhook receiver. Tests use the library in-process; benchmarks
//! run the binary `hermod-sim`.

pub mod carrier;
mod duration;
pub mod empty_http;
pub mod load;
mod runtime;
pub mod session_driver;
pub mod smpp_echo;
pub mod webhooks;

pub use duration::parse_duration;
