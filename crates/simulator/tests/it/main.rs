//! The simulator from outside: over real sockets, as its users meet it.

mod carrier;
mod command_line;
mod esme;
mod http_load;
mod receipts;
mod start;
