//! The other side of Hermod: a scriptable carrier that keeps its own record of everything it saw, load generators
//! for HTTP and SMPP, for each an endpoint that stores nothing, to measure it against, and a receiver of webhooks.
//! Tests use the library in-process; benchmarks run the binary `hermod-sim`.

pub mod carrier;
pub mod empty_http;
pub mod load;
mod runtime;
mod session_driver;
pub mod smpp_echo;
pub mod webhooks;
