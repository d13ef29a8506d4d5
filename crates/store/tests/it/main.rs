//! The store seen from outside: stories about money, messages and carriers, then everything that can go wrong around
//! them. One binary, because each one links SQLite again.

mod accepting;
mod auditing;
mod cancelling;
mod catalogue;
mod deferring;
mod delivery;
mod erasing;
mod expiring;
mod failing_over;
mod faults;
mod handsets;
mod hooking;
mod in_doubt;
mod inbound;
mod ledger;
mod lifecycle;
mod limits;
mod links;
mod matching;
mod migrating;
mod model;
mod moving;
mod queueing;
mod receiving;
mod reporting;
mod restarts;
mod retention;
mod reviews;
mod set_aside;
mod set_back;
mod statements;
mod unnamed;
mod waiting;
mod whole;
mod world;
