//! Where Hermod meets the outside. An edge parses what comes in, calls `app`, and writes what goes out; it never calls
//! another edge.

pub mod carrier;
pub mod http_api;
pub mod operator_api;
pub mod smpp;
pub mod webhooks;
