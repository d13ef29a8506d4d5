//! The simulator from outside: over real sockets, as its users meet it.

mod http_load;
