//! Load generators for HTTP and SMPP, with a schedule, limits and a report.

pub mod http;
pub mod live;
mod pacer;
pub mod recipients;
pub mod report;
pub mod schedule;
pub mod smpp;
