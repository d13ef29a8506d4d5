//! Money of accounts: balances, ledgers, statements, spend by day, and traffic controls.

pub(crate) mod routes;
pub mod use_cases;
pub mod views;
