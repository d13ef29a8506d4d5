//! What is known about a number before a message is sent: network, price, route; and the published error codes.

use crate::views::amount::Amount;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::PublishedError;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct LookupQuery {
    /// The account whose price, countries and routes apply.
    pub account: Option<String>,
    /// The sender. Default: one that no route names.
    pub from: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ExplainQuery {
    /// The recipient.
    #[param(pattern = r"^\+[1-9][0-9]{6,14}$")]
    pub to: String,
    /// The sending account. Default: one that no route names.
    pub account: Option<String>,
    /// The sender. Default: one that no route names.
    pub from: Option<String>,
}

/// A number, its price and its route. Unknown values are empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LookupView {
    pub number: String,
    pub country: String,
    pub country_code: String,
    pub operator: String,
    pub mcc: String,
    pub mnc: String,
    /// The price of a part for the account, in its currency.
    pub per_part: Option<Amount>,
    pub currency: Option<String>,
    /// The name of the price that applies: `shop/49@2027-01-01`, `US`.
    pub price: Option<String>,
    pub country_enabled: Option<bool>,
    /// The name of a block that forbids to send to the number: `49900`, `shop/4990000-4990099`.
    pub block: Option<String>,
    /// Each reason why a message of one part would be rejected now. Empty without an account.
    pub refusals: Vec<String>,
    #[serde(flatten)]
    pub explanation: ExplanationView,
}

/// The route that a message takes, why the others are not taken, and the state of its carriers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplanationView {
    /// The result in one sentence.
    #[schema(examples("A message to +4915112345678 goes by route 49 to carrier acme."))]
    pub sentence: String,
    /// The route that is taken.
    pub route: Option<String>,
    /// The area of that route: `49`, `262-01`, `mcc262`, `DE` or `*`.
    pub area: Option<String>,
    /// The carrier that would get the message now; null if the message would be rejected.
    pub carrier: Option<String>,
    /// What happens to a part that was submitted and got no response.
    pub in_doubt: Option<InDoubtView>,
    /// Whether a part that one carrier rejects is offered to the next.
    pub fail_over_refusals: bool,
    /// Every route whose area includes the number, the one that is taken first.
    pub routes: Vec<RouteCandidateView>,
    /// The carriers of the route, in the order in which they are tried for this number.
    pub carriers: Vec<CarrierCandidateView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InDoubtView {
    Resend,
    ResendOnce,
    NeverResend,
}

impl From<DoubtPolicy> for InDoubtView {
    fn from(policy: DoubtPolicy) -> InDoubtView {
        match policy {
            DoubtPolicy::Resend => InDoubtView::Resend,
            DoubtPolicy::ResendOnce => InDoubtView::ResendOnce,
            DoubtPolicy::NeverResend => InDoubtView::NeverResend,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RouteCandidateView {
    #[schema(examples("49"))]
    pub route: String,
    /// `chosen`, `broader-entry`, `other-account`, `other-sender` or `no-country`.
    pub decision: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierCandidateView {
    #[schema(examples("acme"))]
    pub carrier: String,
    pub priority: u8,
    pub weight: u16,
    /// `up`, `poor`, `down`, `stopped` or `disabled`; null where no gateway runs.
    pub health: Option<String>,
    /// `chosen`, `in-reserve` or `skipped`; `closed`, `unknown-cost` or `loss` if the route compares costs and the carrier may not have
    /// the message.
    pub decision: String,
    pub why: String,
    /// What the carrier asks for a part; null if that is unknown, or if the entry closes the destination.
    pub cost: Option<Amount>,
    #[schema(examples("EUR"))]
    pub cost_currency: Option<String>,
    /// The name of the cost that applies.
    #[schema(examples("acme/49"))]
    pub cost_entry: Option<String>,
    /// What remains of the account's price of a part, in its currency; null without an account, a price, a cost or an exchange rate.
    pub margin: Option<Amount>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorsView {
    pub items: Vec<ErrorView>,
}

/// A published error code of the customer API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorView {
    pub code: String,
    /// The HTTP status.
    pub http: u16,
    /// The SMPP command_status.
    pub smpp: String,
    /// Whether the same request fails again.
    pub permanent: bool,
    pub charged: bool,
    pub meaning: String,
    pub what_to_do: String,
}

impl From<&PublishedError> for ErrorView {
    fn from(row: &PublishedError) -> ErrorView {
        ErrorView {
            code: row.code.to_owned(),
            http: row.http,
            smpp: format!("0x{:08X}", row.smpp),
            permanent: row.class == Class::Permanent,
            charged: row.charged,
            meaning: row.meaning.to_owned(),
            what_to_do: row.what_to_do.to_owned(),
        }
    }
}
