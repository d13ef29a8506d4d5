//! The protocol edges. An edge parses requests, calls `app`, and writes responses; it never calls another edge.

pub mod alarm_command;
pub mod carrier;
pub mod http_api;
pub mod mail;
pub mod smpp;
pub mod webhooks;
