//! The store seen from outside: stories about money, messages and carriers, then everything that can go wrong around
//! them. One binary, because each one links SQLite again.

mod accepting;
mod auditing;
mod catalogue;
mod faults;
mod ledger;
mod lifecycle;
mod model;
mod queueing;
mod restarts;
mod world;
