//! The tests of the whole product, in one binary: stories told by customers and operators, the command line, and what
//! happens when the process dies.

mod assembly;
mod chaos;
mod cli;
mod clients;
mod crash;
mod disk;
mod documents;
mod https;
mod open_files;
mod real_time;
mod scenario;
mod security;
mod smsc;
mod stories;
