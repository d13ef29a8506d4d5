//! Stories a customer or an operator would tell, against the real gateway with a carrier that does what it is told.

mod carriers;
mod clock;
mod fail_over;
mod in_doubt;
mod inbound;
mod lifetimes;
mod money;
mod sending;
mod smpp;
mod twenty_failures;
mod waiting;
mod webhooks;
