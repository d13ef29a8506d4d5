//! What must hold whatever a customer or a stranger does: secrets stay secret, and accounts stay apart.

mod canaries;
mod two_accounts;
