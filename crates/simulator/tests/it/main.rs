//! The simulator from outside: over real sockets, as its users meet it.

mod answers;
mod binds;
mod carrier;
mod command_line;
mod dead;
mod door;
mod esme;
mod handsets;
mod http_load;
mod ids;
mod limits;
mod malformed;
mod receipts;
mod smpp_load;
mod start;
mod tls;
mod ways;
mod webhooks;
mod witness;
mod wordings;
