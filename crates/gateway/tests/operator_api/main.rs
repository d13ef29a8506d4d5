//! The operator API: in this process, with a real store in a temporary folder and a clock that only the tests move; and
//! once over sockets, as a running gateway serves it.

#![expect(clippy::unwrap_used, reason = "a test that meets an error should stop right there")]

mod applying;
mod backups;
mod binds;
mod carriers;
mod documented;
mod documents;
mod entries;
mod hostile;
mod money;
mod office;
mod policy;
mod routes;
mod running;
mod unowned;
mod webhooks;
