//! Load generators: they send as many messages as they are told to, never more, and say how it went.

pub mod http;
pub mod live;
mod pacer;
pub mod report;
pub mod schedule;
pub mod smpp;
