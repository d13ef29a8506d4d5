//! The ports of the store: a link's, by which parts leave and answers come, and a bind's, by which its customer gets reports.

mod link;
mod receiver;

pub use link::LinkPort;
pub use receiver::ReceiverPort;
