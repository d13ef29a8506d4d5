//! What operators and the users of customers do with a gateway: the setup and its changes, money, reviews, carriers, binds,
//! webhooks, the record, and signing in. The gateway carries messages and does not know this crate: the binary passes
//! [`api::OPERATOR_SIDE`]. The portal and the command line call the same use cases.

pub mod account;
pub mod api;
pub mod audit_log;
pub mod author;
pub mod bind;
pub mod carrier;
pub mod connection;
pub mod control;
pub mod csv;
pub mod customer_request;
pub mod delivery;
pub mod destination;
pub mod entry;
mod find;
mod http;
pub mod inbound;
pub mod inbox;
mod input;
pub mod key;
pub mod key_uses;
pub mod kind;
pub mod lookup;
pub mod maintenance;
pub mod message;
pub mod money;
pub mod node;
mod node_query;
pub mod number;
pub mod operator;
pub mod price;
pub mod refusal;
pub mod rotation;
pub mod route;
pub mod screen;
mod secret_rotation;
pub mod sender;
mod sender_lookalikes;
pub mod setup;
pub mod trace;
pub mod user;
pub mod views;
pub mod webhook;
