//! What operators and the users of customers do with a gateway: the setup and its changes, money, reviews, carriers, binds,
//! webhooks, the record, and signing in. The gateway carries messages and does not know this crate: the binary passes
//! [`api::OPERATOR_SIDE`]. The portal and the command line call the same use cases.

pub mod api;
pub mod author;
pub mod csv;
pub mod inbox;
pub mod provision;
pub mod use_cases;
pub mod users;
pub mod views;
