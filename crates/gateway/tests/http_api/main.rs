//! The HTTP API over real sockets, with a store in a temporary folder and a manual clock. There is no
//! carrier: a message is accepted once it is on disk.

#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod client;
mod client_address;
mod connections;
mod contract;
mod credentials;
mod fixture;
mod hostile_bodies;
mod hostile_heads;
mod http2;
mod idempotency;
mod inbound;
mod message_status_and_balance;
mod mutated_requests;
mod openapi_check;
mod operations;
mod proxy_protocol;
mod rate_limit;
mod request_log;
mod send;
mod test_customers;
mod timing;
mod tls;
