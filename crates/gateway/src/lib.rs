//! What Hermod connects. `edges` speak to the outside (HTTP API, carriers) and know nothing of each other; `app` holds
//! one file per thing the product does, and knows no protocol; `world` is what they all stand in: clock, store,
//! catalogue. The way of a message is edges -> app -> domain + store, and back.

pub mod app;
mod arrivals;
pub mod board;
pub mod clock;
pub mod config;
pub mod edges;
pub mod http;
mod open_files;
pub mod provision;
pub mod running;
pub mod secrets;
mod stream;
pub mod telemetry;
pub mod tls;
pub mod workers;
pub mod world;

/// For whoever receives webhooks.
pub use hermod_domain::webhook::signature as webhook_signature;
