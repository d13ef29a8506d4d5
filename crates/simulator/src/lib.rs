//! The other side of Hermod: a scriptable carrier that keeps its own record of everything it saw, a load
//! generator for the HTTP API, and an empty endpoint to measure that generator against. Tests use the library
//! in-process; benchmarks run the binary `hermod-sim`.

pub mod carrier;
pub mod empty_http;
pub mod load;
mod world;
