//! Where the status of a message is reported. Kept in memory until the message ends, so that its end needs no read.

use crate::ops::Acceptance;
use crate::tables::MessageOrigin;
use hermod_domain::ids::ConnectionId;
use hermod_domain::origin::{Alias, Origin};
use std::sync::Arc;

/// Where the status of a message is reported.
#[derive(Clone, Debug)]
pub enum ReportTarget {
    /// The message has no row, or its row cannot be read.
    None,
    /// To the account's webhook, if it has one: the message came over HTTP on this connection.
    Web(ConnectionId),
    Customer(Arc<Customer>),
    /// Not read yet: the message's row tells.
    Unread,
}

/// A customer that submitted a message over SMPP.
#[derive(Debug)]
pub struct Customer {
    pub connection: ConnectionId,
    pub alias: Option<Alias>,
    pub origin: Arc<Origin>,
    pub parts: u8,
}

impl ReportTarget {
    /// Returns the target of a message that is being accepted.
    pub fn of(acceptance: &Acceptance, alias: Option<Alias>) -> ReportTarget {
        let Some(origin) = &acceptance.origin else { return ReportTarget::Web(acceptance.connection) };
        ReportTarget::Customer(Arc::new(Customer {
            connection: acceptance.connection,
            alias,
            origin: origin.clone(),
            parts: acceptance.parts,
        }))
    }

    /// Returns the target by a message's row; `None` if there is no row.
    pub fn of_row(row: Option<MessageOrigin>) -> ReportTarget {
        let Some(MessageOrigin { connection, parts, origin }) = row else { return ReportTarget::None };
        let Some((origin, alias)) = origin else { return ReportTarget::Web(connection) };
        ReportTarget::Customer(Arc::new(Customer { connection, alias, origin: Arc::new(origin), parts }))
    }
}
