//! Requests of customers to the operator: senders, countries, numbers, limits, top-ups.

use crate::views::paging::{Limit, RowNumber, paged};
use hermod_store::CustomerRequest;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct CustomerRequestsQuery {
    /// Only requests of this account.
    pub account: Option<String>,
    /// Only requests in this state: `open`, `accepted`, `declined` or `withdrawn`.
    #[param(pattern = "^(open|accepted|declined|withdrawn)$")]
    pub state: Option<String>,
    /// `next` of the previous page.
    pub before: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// What a customer writes into a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomerRequestDraft {
    /// `sender`, `country`, `number`, `verification`, `rate`, `window`, `tier` or `top-up`.
    pub kind: String,
    pub subject: String,
    /// The connection that a rate or a window is for; empty if the account has one only.
    pub connection: String,
    pub details: String,
}

/// A request of a customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CustomerRequestView {
    pub id: u64,
    #[schema(examples("shop"))]
    pub account: String,
    /// `sender`, `country`, `number`, `verification`, `rate`, `window`, `tier` or `top-up`.
    #[schema(examples("sender"))]
    pub kind: String,
    /// What is requested: a sender ID, a country code, a rate, an amount.
    #[schema(examples("Shop"))]
    pub subject: String,
    /// The connection that a rate or a window is for.
    pub connection: Option<String>,
    /// What the customer says about it.
    pub details: String,
    /// Who made it.
    #[schema(examples("ann@example.com"))]
    pub by: String,
    pub made_at: String,
    /// `open`, `accepted`, `declined` or `withdrawn`.
    #[schema(examples("open"))]
    pub state: String,
    /// When it was accepted, declined or withdrawn.
    pub ended_at: Option<String>,
    /// Who did that; empty while it is open.
    pub ended_by: String,
    /// The reason that the customer reads.
    pub reason: String,
}

impl CustomerRequestView {
    /// Makes the view of a request whose account and connection have these names.
    pub fn new(stored: CustomerRequest, account: String, connection: Option<String>) -> CustomerRequestView {
        let CustomerRequest { id, request, state, ended_at, ended_by, reason } = stored;
        CustomerRequestView {
            id,
            account,
            kind: request.kind.as_str().to_owned(),
            subject: request.subject,
            connection,
            details: request.details,
            by: request.by,
            made_at: request.now.to_iso(),
            state: state.as_str().to_owned(),
            ended_at: ended_at.map(|at| at.to_iso()),
            ended_by,
            reason,
        }
    }
}

paged!(CustomerRequestView, u64, |row| row.id);

/// How a request is accepted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptRequest {
    /// What is granted, if it is not what was requested: another rate or amount, or the number. A request for a number needs
    /// it: digits, with `/KEYWORD` after them if the number is shared.
    #[schema(min_length = 1, max_length = 120, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", examples("50"))]
    pub value: Option<String>,
    /// `true`: the change was made by hand, and accepting the request changes nothing else.
    #[serde(default)]
    pub done: bool,
    /// A note that the customer reads.
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub note: String,
}

impl crate::views::JsonBody for AcceptRequest {}

/// How a request is declined.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclineRequest {
    /// The reason that the customer reads.
    #[schema(
        min_length = 1,
        max_length = 500,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        examples("The name belongs to another company.")
    )]
    pub reason: String,
}

impl crate::views::JsonBody for DeclineRequest {}
