//! The gateway. `edges` speak the protocols (HTTP API, SMPP, carrier links, webhooks) and do not know each other;
//! `app` has one file per use case and knows no protocol; `gateway` holds what they share: clock, store, catalogue. A
//! message goes edges -> app -> domain + store, and back.

pub mod app;
pub mod clock;
pub mod config;
pub mod edges;
pub mod gateway;
pub mod http;
mod listeners;
pub mod live_status;
pub mod node_messages;
mod open_files;
mod pdu_trace;
pub mod running;
pub mod secrets;
mod stream;
pub mod telemetry;
pub mod tls;
pub mod workers;

/// For receivers of webhooks.
pub use hermod_domain::webhook::signature as webhook_signature;
