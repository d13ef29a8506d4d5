//! The ports of the store: one per link to a carrier, and one per customer bind that receives reports.

mod link;
mod receiver;

pub use link::LinkPort;
pub use receiver::ReceiverPort;
