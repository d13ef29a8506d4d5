//! The operator API: in this process, with a store in a temporary folder and a manual clock; and
//! over sockets, as a running gateway serves it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first error")]

mod apply;
mod backups;
mod binds;
mod carriers;
mod documentation_examples;
mod entries;
mod files;
mod fixture;
mod invalid_requests;
mod ledger;
mod listener;
mod openapi_check;
mod policy;
mod queues;
mod rates;
mod record;
mod record_queries;
mod restore;
mod roles;
mod routes;
mod unassigned_inbound;
mod webhooks;
