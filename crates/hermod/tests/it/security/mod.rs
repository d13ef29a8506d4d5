//! What must hold whatever a customer or a stranger does: secrets stay secret, and accounts stay apart.

mod canaries;
mod log_lines;
mod two_accounts;
