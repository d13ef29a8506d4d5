//! What an operator does from the command line, one file per thing that is looked after. Every command speaks the
//! operator API: of a gateway that runs, or of one that is put together for the length of the command on a data folder
//! where none runs. So both do the same, and refuse with the same sentences.

pub(crate) mod account;
pub(crate) mod alarms;
pub(crate) mod apply;
pub(crate) mod binds;
pub(crate) mod carrier;
mod changes;
pub(crate) mod connection;
pub(crate) mod control;
pub(crate) mod deliveries;
pub(crate) mod desk;
mod entries;
pub(crate) mod erase;
mod explain;
mod fields;
mod here;
pub(crate) mod key;
mod ledger;
pub(crate) mod links;
pub(crate) mod lookup;
pub(crate) mod money;
pub(crate) mod number;
mod opt_outs;
pub(crate) mod place;
pub(crate) mod price;
mod probe;
mod receipts;
pub(crate) mod reports;
pub(crate) mod review;
pub(crate) mod route;
pub(crate) mod screen;
pub(crate) mod sender;
pub(crate) mod set_aside;
mod standing;
mod trace;
pub(crate) mod unowned;
pub(crate) mod webhook;

pub(crate) use changes::{PASSWORD_OF, WEBHOOKS_OF};
