//! Commands of the operator. Every command calls the operator API: of a running gateway, or of one that is opened in this
//! process on a data folder where no gateway runs. Both behave alike and report the same errors.

pub(crate) mod account;
mod account_details;
pub(crate) mod alarms;
pub(crate) mod apply;
pub(crate) mod audit_log;
pub(crate) mod binds;
pub(crate) mod carrier;
mod carrier_test;
mod changes;
pub(crate) mod connection;
pub(crate) mod control;
pub(crate) mod deliveries;
mod entries;
mod explain;
mod fields;
mod in_process;
pub(crate) mod key;
pub(crate) mod links;
mod list;
pub(crate) mod lookup;
pub(crate) mod maintenance;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod money;
pub(crate) mod number;
pub(crate) mod operator_client;
mod opt_outs;
pub(crate) mod price;
mod receipts;
pub(crate) mod record;
mod record_notes;
pub(crate) mod requests;
pub(crate) mod route;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod sender;
mod statement;
pub(crate) mod stats;
mod tables;
pub(crate) mod tail;
pub(crate) mod target;
mod trace;
mod watch;
pub(crate) mod webhook;

pub(crate) use changes::{PASSWORD_OF, WEBHOOKS_OF};
