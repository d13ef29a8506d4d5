//! The store's operations, one file per subject. Each is a command for the writer, a read beside it, or both.

mod customer_requests;
mod erasing;
mod inbound;
mod messages;
mod money;
mod opt_outs;
mod receipts;
mod reports;
mod reviews;
mod setup;
mod user_tokens;

pub use customer_requests::CustomerRequestStore;
pub use erasing::ErasureStore;
pub use inbound::InboundStore;
pub use messages::MessageStore;
pub use money::MoneyStore;
pub use opt_outs::OptOutStore;
pub use receipts::ReceiptStore;
pub use reports::ReportStore;
pub use reviews::ReviewStore;
pub use setup::{SetAsideStore, SetupStore};
pub use user_tokens::UserTokenStore;
