//! Tests of the whole product in one binary: end-to-end scenarios of customers and operators, the command line, and
//! crashes of the process.

mod browser;
mod chaos;
mod cli;
mod clients;
mod cluster;
mod crash;
mod disk;
mod end_to_end;
mod gateways;
mod https;
mod open_files;
mod openapi;
mod orderly_stop;
mod portal;
mod real_time;
mod scenario;
mod security;
mod smsc;
mod store_access;
