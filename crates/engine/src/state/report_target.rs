//! Who is told what becomes of a message. Remembered while the message is under way, so that its end needs no look-up.

use crate::ops::Acceptance;
use crate::tables::MessageOrigin;
use hermod_domain::ids::ConnectionId;
use hermod_domain::origin::{Alias, Origin};
use std::sync::Arc;

/// Who is told what becomes of a message.
#[derive(Clone, Debug)]
pub enum ReportTarget {
    Nobody,
    /// The message came over HTTP, on this connection: the account's webhook is told, if it has one.
    Web(ConnectionId),
    Customer(Arc<Customer>),
    /// Not read yet: the message's row says.
    Unread,
}

/// A customer who submitted a message over SMPP.
#[derive(Debug)]
pub struct Customer {
    pub connection: ConnectionId,
    pub alias: Option<Alias>,
    pub origin: Arc<Origin>,
    pub parts: u8,
}

impl ReportTarget {
    /// Returns the report_target of a message that is being accepted.
    pub fn of(acceptance: &Acceptance, alias: Option<Alias>) -> ReportTarget {
        let Some(origin) = &acceptance.origin else { return ReportTarget::Web(acceptance.connection) };
        ReportTarget::Customer(Arc::new(Customer {
            connection: acceptance.connection,
            alias,
            origin: origin.clone(),
            parts: acceptance.parts,
        }))
    }

    /// Returns the report_target that a message's row tells; nobody, if there is no row.
    pub fn of_row(row: Option<MessageOrigin>) -> ReportTarget {
        let Some(MessageOrigin { connection, parts, origin }) = row else { return ReportTarget::Nobody };
        let Some((origin, alias)) = origin else { return ReportTarget::Web(connection) };
        ReportTarget::Customer(Arc::new(Customer { connection, alias, origin: Arc::new(origin), parts }))
    }
}
