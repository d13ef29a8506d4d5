//! Security properties: secrets stay secret, log lines cannot be forged, and accounts are isolated.

mod canaries;
mod log_lines;
mod two_accounts;
