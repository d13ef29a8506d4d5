//! The simulator from outside: over real sockets, as its users meet it.

mod carrier;
mod esme;
mod http_load;
