//! Requests of customers to the operator.

use crate::ops::Hidden;
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Open requests of one account. Further ones are refused.
pub const OPEN_CUSTOMER_REQUESTS_MAX: usize = 20;
/// Requests of one account that are kept. A further one takes the place of the oldest that has ended.
pub const CUSTOMER_REQUESTS_KEPT_MAX: usize = 500;

/// A request that a customer makes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCustomerRequest {
    pub account: AccountId,
    pub kind: CustomerRequestKind,
    /// What is requested: a sender ID, a country, an amount. Only the gateway reads it.
    pub subject: String,
    /// The connection that it is about, if its kind is about one.
    pub connection: Option<ConnectionId>,
    /// What the customer says about it.
    pub details: String,
    /// Who made it.
    pub by: String,
    pub now: Timestamp,
}

impl fmt::Debug for NewCustomerRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NewCustomerRequest { account, kind, subject, connection, details, by, now } = self;
        f.debug_struct("NewCustomerRequest")
            .field("account", account)
            .field("kind", kind)
            .field("subject", subject)
            .field("connection", connection)
            .field("details", &Hidden(details))
            .field("by", by)
            .field("now", now)
            .finish()
    }
}

/// A stored request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerRequest {
    pub id: u64,
    pub request: NewCustomerRequest,
    pub state: CustomerRequestState,
    /// When it was accepted, declined or withdrawn.
    pub ended_at: Option<Timestamp>,
    /// Who did that; empty while it is open.
    pub ended_by: String,
    /// The reason that the customer reads.
    pub reason: String,
}

impl CustomerRequest {
    pub fn is_open(&self) -> bool {
        self.state == CustomerRequestState::Open
    }
}

/// The end of a request: it is accepted, declined or withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerRequestEnd {
    pub id: u64,
    pub state: CustomerRequestState,
    pub by: String,
    pub reason: String,
    pub now: Timestamp,
}

/// The outcome of making a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MadeCustomerRequest {
    New(u64),
    /// The account has an open request for the same.
    Same(u64),
    /// The account has [`OPEN_CUSTOMER_REQUESTS_MAX`] open requests.
    TooMany,
}
